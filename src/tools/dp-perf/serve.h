/* serve.h - the side that is measured with: does what clients order, one after the other. */
#ifndef SERVE_H
#define SERVE_H

/* Serves until SIGINT or SIGTERM; with `idle_s` not 0 also until nothing was ordered for so long. Returns the status to
 * exit with. */
int serve_run(const char *interface, int patience_s, int idle_s);

#endif
