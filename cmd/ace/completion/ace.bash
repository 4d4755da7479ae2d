# Completion of ace in bash: source <(ace completion bash)
_ace() {
  # "=" ends a word for bash: the words are taken from the line itself.
  local line=${COMP_LINE:0:COMP_POINT} word
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  COMPREPLY=()
  while IFS= read -r word; do
    [[ ${words[-1]} == *=* ]] && word=${word#*=}
    COMPREPLY+=("$word")
  done < <("${words[0]}" completion words -- "${words[@]:1}" 2>/dev/null)
}
complete -o bashdefault -o default -F _ace ace
