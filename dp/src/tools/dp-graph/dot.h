/* dot.h - a directed point graph in Graphviz's language. */
#ifndef DOT_H
#define DOT_H

#include "dp_graph.h"

/* Nodes become boxes, processes boxes inside them, endpoints circles, and channels edges with their names. */
void dot_print(const struct dp_graph *graph, FILE *to);

#endif
