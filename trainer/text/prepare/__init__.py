"""Turns texts into tokens for shardlens-rank, which starts it (trainer/text/text_program.h), with Hugging Face's own code.

Read in this order:
  main            the request, a line of JSON, and its reply
  preparation     from the files of a request to the image of its tokens
  lines           JSON Lines as examples: which tokens count; `json_lines` is what a line means, `examples` many side by side
  documents       whole files as examples; `long_texts` says where they may be cut, `words` encodes a word once
  chat_template   conversations as text (`chat_environment` is what a template may do); `answers`: what the assistant said
  tokenizer       that of the package; `tokenizer_files`: where it is and what it says; `older_tokenizers`: what is made of
                  files that leave much to their family
  image           the file that all this is written to
  limits, files, packages, refusal    what we may take; reading; what must be installed; how a request ends in words
"""
