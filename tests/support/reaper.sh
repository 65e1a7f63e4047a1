# Cleans up after a test process, whether it ended with a panic, an exit or SIGKILL. The test process holds the other
# end of standard input, which the kernel closes when that process ends. Lines: "group PGID" (a process group was
# started), "ended PGID" (it has ended), "directory PATH" (remove it at the end).
trap '' INT TERM HUP
groups=' '
directories=
newline='
'
while read -r verb argument; do
    case $verb in
        group) groups="$groups$argument " ;;
        ended) case $groups in *" $argument "*) groups="${groups%%" $argument "*} ${groups#*" $argument "}" ;; esac ;;
        directory) directories="$directories$argument$newline" ;;
    esac
done
for group in $groups; do kill -s TERM -- "-$group"; done
rounds=0
while [ $rounds -lt 20 ]; do
    alive=
    for group in $groups; do kill -s 0 -- "-$group" && alive=yes; done
    [ -n "$alive" ] || break
    sleep 0.1
    rounds=$((rounds + 1))
done
for group in $groups; do kill -s KILL -- "-$group"; done
IFS=$newline
for directory in $directories; do rm -rf -- "$directory"; done
