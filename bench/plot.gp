# plot.gp - plots the output of report.awk's form `curves`: gnuplot -e "data='FILE'; folder='DIR'" plot.gp
# prefix='rdma-' sets the start of file names, where='between ...' part of the titles.
# Lines of data: system, name, bytes, one-way us; grouped here by system and name.
if (!exists("prefix")) prefix = ""
if (!exists("where")) where = "between two tasks of one host"
set terminal svg size 900,600 dynamic background rgb "white" font "sans-serif,13"
set key outside right top reverse Left
set logscale x 2
set format x "%.0b%B"
set xlabel "bytes of a message"
set grid
set style data linespoints

keys = system(sprintf("cut -d' ' -f1,2 %s | sort -u | tr ' ' '~'", data))
system_of(key) = key[1:strstrt(key, "~") - 1]
name_of(key) = key[strstrt(key, "~") + 1:]
title_of(key) = system_of(key) eq "raw" ? "raw " . name_of(key) : system_of(key) . (name_of(key) eq "pingpong.psend" ? " psend" : "")
lines(key) = sprintf("< awk '$1 == \"%s\" && $2 == \"%s\"' %s", system_of(key), name_of(key), data)
colour(key) = system_of(key) eq "raw" ? "#999999" : system_of(key)[1:4] eq "dpvm" ? "#c02020" : \
    system_of(key)[1:4] eq "refe" ? "#b08000" : system_of(key)[1:4] eq "open" ? "#2060c0" : "#20904a"

set output folder . "/" . prefix . "latency.svg"
set title "One way " . where . " (half a round trip)"
set ylabel "microseconds"
set logscale y
plot for [i = 1:words(keys)] lines(word(keys, i)) using 3:4 linewidth 1.5 linecolor rgb colour(word(keys, i)) \
    pointtype i title title_of(word(keys, i))

set output folder . "/" . prefix . "bandwidth.svg"
set title "Bandwidth " . where . " (bytes / half a round trip)"
set ylabel "10^6 bytes/s"
plot for [i = 1:words(keys)] lines(word(keys, i)) using 3:($3 / $4) linewidth 1.5 linecolor rgb colour(word(keys, i)) \
    pointtype i title title_of(word(keys, i))
