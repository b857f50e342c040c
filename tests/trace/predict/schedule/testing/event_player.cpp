#include "tests/trace/predict/schedule/testing/event_player.h"

#include <algorithm>
#include <limits>

namespace shardlens::trace::predict {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Nearer moments are one: more than what a double tells of absolute times.
constexpr double kInstant = 0.01;

struct Going {  // one rank
  std::size_t next = 0;
  double left_ns = 0;  // to compute
  bool is_begun = false;
};

struct State {
  bool is_scheduled = false;
  std::size_t launched = 0;
};

class Stage {
 public:
  Stage(const std::vector<PlayedRank>& ranks, const std::vector<PlayedCall>& calls, double slowdown)
      : ranks_(ranks),
        calls_(calls),
        slowdown_(slowdown),
        going_(ranks.size()),
        states_(calls.size()) {
    played_.calls.resize(calls.size());
    for (const PlayedRank& rank : ranks) played_.deeds.emplace_back(rank.deeds.size());
  }

  Played play() {
    while (true) {
      while (act()) {
      }
      const double next = next_event();
      if (next == kNever) return std::move(played_);
      const double pace = is_contended() ? 1 - slowdown_ : 1;
      for (std::size_t i = 0; i < ranks_.size(); ++i) {
        if (computes(i)) going_[i].left_ns -= pace * (next - now_);
      }
      now_ = next;
    }
  }

 private:
  bool has_come(double time) const { return time <= now_ + kInstant; }
  bool is_over(std::size_t i) const { return going_[i].next == ranks_[i].deeds.size(); }
  const Deed& deed(std::size_t i) const { return ranks_[i].deeds[going_[i].next]; }
  bool computes(std::size_t i) const {
    return !is_over(i) && going_[i].is_begun && deed(i).what == Deed::What::kCompute;
  }
  // Now and then on its way, unless all the while.
  void visit_work(std::size_t c, const auto& visit) const {
    if (!states_[c].is_scheduled || calls_[c].working_ns <= 0) return;
    const double parts = calls_[c].working_ns < calls_[c].transfer_ns ? 10 : 1;
    for (double i = 0; i < parts; ++i) {
      const double begin = played_.calls[c].start_ns + calls_[c].transfer_ns * i / parts;
      visit(begin, begin + calls_[c].working_ns / parts);
    }
  }
  bool is_contended() const {
    bool works = false;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      visit_work(c, [&](double begin, double end) {
        works = works || (has_come(begin) && !has_come(end));
      });
    }
    return works;
  }

  // Whatever can happen at this moment; false: nothing.
  bool act() {
    bool acted = false;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (is_over(i) || !has_come(ranks_[i].begin_ns)) continue;
      Going& going = going_[i];
      Played::Time& time = played_.deeds[i][going.next];
      if (!going.is_begun) {
        going.is_begun = true;
        going.left_ns = deed(i).ns;
        time.start_ns = now_;
        if (deed(i).what == Deed::What::kLaunch) launch(deed(i).call);
        acted = true;
      }
      if (!is_done(i)) continue;
      time.end_ns = now_;
      ++going.next;
      going.is_begun = false;
      acted = true;
    }
    return schedule() || acted;
  }
  bool is_done(std::size_t i) const {
    switch (deed(i).what) {
      case Deed::What::kCompute:
        return going_[i].left_ns <= kInstant;
      case Deed::What::kLaunch:
        return true;
      default:
        return states_[deed(i).call].is_scheduled && has_come(played_.calls[deed(i).call].end_ns);
    }
  }
  void launch(std::size_t call) {
    if (++states_[call].launched == ranks_.size()) played_.calls[call].ready_ns = now_;
  }
  bool schedule() {
    bool scheduled = false;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      if (states_[c].is_scheduled || states_[c].launched < ranks_.size()) continue;
      Played::Call& call = played_.calls[c];
      double start = call.ready_ns;
      bool is_held = false;
      for (std::size_t before = 0; before < c; ++before) {
        const bool holds =
            calls_[before].lane == calls_[c].lane || (calls_[c].follows && before + 1 == c);
        if (!holds) continue;
        is_held = is_held || !states_[before].is_scheduled;
        start = std::max(start, played_.calls[before].end_ns);
      }
      if (is_held) continue;
      states_[c].is_scheduled = true;
      call.start_ns = start;
      call.end_ns = start + calls_[c].transfer_ns;
      scheduled = true;
    }
    return scheduled;
  }

  double next_event() const {
    double next = kNever;
    const auto may_be = [&](double time) {
      if (!has_come(time)) next = std::min(next, time);
    };
    const double pace = is_contended() ? 1 - slowdown_ : 1;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (computes(i) && pace > 0) next = std::min(next, now_ + going_[i].left_ns / pace);
      if (!is_over(i)) may_be(ranks_[i].begin_ns);
    }
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      if (!states_[c].is_scheduled) continue;
      may_be(played_.calls[c].start_ns);
      visit_work(c, [&](double begin, double end) {
        may_be(begin);
        may_be(end);
      });
      may_be(played_.calls[c].end_ns);
    }
    return next;
  }

  const std::vector<PlayedRank>& ranks_;
  const std::vector<PlayedCall>& calls_;
  double slowdown_, now_ = 0;
  std::vector<Going> going_;
  std::vector<State> states_;
  Played played_;
};

}  // namespace

double Played::waited_ns(std::size_t rank, const PlayedRank& played) const {
  double sum = 0;
  for (std::size_t i = 0; i < played.deeds.size(); ++i) {
    if (played.deeds[i].what != Deed::What::kWait) continue;
    sum += deeds[rank][i].end_ns - deeds[rank][i].start_ns;
  }
  return sum;
}

Played play(const std::vector<PlayedRank>& ranks, const std::vector<PlayedCall>& calls,
            double slowdown) {
  return Stage(ranks, calls, slowdown).play();
}

}  // namespace shardlens::trace::predict
