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

# A curve has a colour (Okabe and Ito's, which colour-blind people can tell apart), a dash and a mark of its own. Its colour
# alone tells it from the next six, its dash from those that come after these.
array colours[7] = [0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0x000000, 0xe69f00, 0x56b4e9]
array dashes[4] = [1, 2, 4, 3]
array marks[13] = [7, 5, 9, 11, 13, 6, 4, 8, 10, 12, 1, 2, 3]
colour(i) = colours[1 + (i - 1) % 7]
dash(i) = dashes[1 + ((i - 1) / 7) % 4]
mark(i) = marks[1 + (i - 1) % 13]

set output folder . "/" . prefix . "latency.svg"
set title "One way " . where . " (half a round trip)"
set ylabel "microseconds"
set logscale y
plot for [i = 1:words(keys)] lines(word(keys, i)) using 3:4 linewidth 1.5 linecolor rgb colour(i) \
    dashtype dash(i) pointtype mark(i) title title_of(word(keys, i))

set output folder . "/" . prefix . "bandwidth.svg"
set title "Bandwidth " . where . " (bytes / half a round trip)"
set ylabel "10^6 bytes/s"
plot for [i = 1:words(keys)] lines(word(keys, i)) using 3:($3 / $4) linewidth 1.5 linecolor rgb colour(i) \
    dashtype dash(i) pointtype mark(i) title title_of(word(keys, i))
