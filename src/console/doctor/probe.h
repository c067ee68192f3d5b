/*
 * probe.h - the probes of one computer. A probe looks at one thing and adds what it has found, also if all is well. It
 * changes nothing, prints nothing, and may hang or crash: local.c runs them in a process of their own.
 *
 * To add a probe, declare it here and add its row in local.c. What a daemon or a task checks for itself belongs to
 * core/place, so that there is one check only.
 */
#ifndef PROBE_H
#define PROBE_H

#include <jansson.h>

struct probe {
    const char *name;
    void (*run)(json_t *results);
};

/* settings.c */
void probe_settings(json_t *results);

/* program.c */
void probe_programs(json_t *results);
void probe_remote_shell(json_t *results);
void probe_search(json_t *results);

/* library.c */
void probe_library(json_t *results);

/* folder.c */
void probe_folder(json_t *results);
void probe_disk(json_t *results);
void probe_files(json_t *results);

/* daemon.c */
void probe_daemon(json_t *results);

/* system.c */
void probe_user(json_t *results);
void probe_limits(json_t *results);
void probe_memory(json_t *results);
void probe_clock(json_t *results);

/* network.c */
void probe_network(json_t *results);
void probe_ports(json_t *results);

/* transport.c */
void probe_transports(json_t *results);

#endif
