# Completion of ace in fish: ace completion fish > ~/.config/fish/completions/ace.fish
function __ace_words
    set -l words (commandline -opc) (commandline -ct)
    $words[1] completion words -- $words[2..-1] 2>/dev/null
end
complete -c ace -a '(__ace_words)'
