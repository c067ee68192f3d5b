/* journald.h - sends log lines to the systemd journal, as datagrams in the journal's native protocol. */
#ifndef PVMC_JOURNALD_H
#define PVMC_JOURNALD_H

#include "log.h"

#define PVMC_JOURNALD_SOCKET "/run/systemd/journal/socket"

struct pvmc_journald_field {
    const char *name;  /* as journalctl -F shows it, such as PVM_TID */
    const char *value; /* without newlines; "": the field is left out */
};

/*
 * Begins to send to the journal whose socket this is. 0, or PVMC_ESYSTEM with errno when no journal listens there.
 * Later the journal may restart: lines are lost meanwhile. Called once, when a daemon starts.
 */
int pvmc_journald_open(const char *socket_path);

/*
 * Sends one line without a newline, with its priority and the fields; the last field has name NULL. Never waits: a line
 * that the journal does not take at once is lost.
 */
void pvmc_journald_send(enum pvmc_log_level level, const char *line, const struct pvmc_journald_field *fields);

void pvmc_journald_close(void);

#endif
