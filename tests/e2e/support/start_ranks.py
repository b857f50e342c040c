"""start_ranks.py RANKS COMMAND…: that many processes of it, told what torchrun tells its own, without importing PyTorch."""
import os
import subprocess
import sys

ranks, command = int(sys.argv[1]), sys.argv[2:]
# Rank 0 listens seconds from now. No program is given a port below 32768 that did not ask for it, and no other one is like us.
port = 15000 + os.getpid() % 15000
shared = dict(os.environ, WORLD_SIZE=str(ranks), LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port))
processes = [subprocess.Popen(command, env=dict(shared, RANK=str(rank), LOCAL_RANK=str(rank))) for rank in range(ranks)]
sys.exit(max(process.wait() != 0 for process in processes))
