/* dot.h - a directed point graph in the language of Graphviz. */
#ifndef DOT_H
#define DOT_H

#include "dp_graph.h"

/* Nodes are boxes, processes boxes in them, endpoints circles; edges carry the names of channels. */
void dot_print(const struct dp_graph *graph, FILE *to);

#endif
