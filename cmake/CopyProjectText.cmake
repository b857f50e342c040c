# cmake -D TREE=… -D BUILD=… -D FOLDER=… -P: what `data: builtin` trains on, copied into FOLDER. A job's ranks read it one
# after the other, so it must not be the tree that somebody works in.
string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" build "${BUILD}")
file(REMOVE_RECURSE "${FOLDER}")
file(COPY "${TREE}/" DESTINATION "${FOLDER}" NO_SOURCE_PERMISSIONS
     FILES_MATCHING PATTERN "*.md" PATTERN "*.h" PATTERN "*.cpp"
     PATTERN build EXCLUDE PATTERN node_modules EXCLUDE PATTERN __pycache__ EXCLUDE
     REGEX "/\\.[^/]*$" EXCLUDE REGEX "^${build}$" EXCLUDE)
