#compdef ace
# Completion of ace in zsh, after compinit: source <(ace completion zsh)
_ace() {
  local -a found
  found=("${(@f)$("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n ${found[1]} ]]; then
    compadd -- "${found[@]}"
  else
    _files
  fi
}
compdef _ace ace
