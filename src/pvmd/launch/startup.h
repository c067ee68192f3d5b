/*
 * startup.h - what master and slave tell each other over a launcher's channel, before there is a link.
 *
 * The master writes the start text to the slave's stdin: printable lines, so that it can be pasted when a daemon is
 * started by hand. The slave prints one line to stdout, the start line, or an error line. Layouts: doc/protocol.md.
 */
#ifndef PVMD_STARTUP_H
#define PVMD_STARTUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../core/dsig.h"
#include "address.h"
#include "hosts.h"
#include "machine.h"

#define PVMD_START_TEXT_MAX ((size_t)128 << 10) /* bytes of a start text */
#define PVMD_START_LINE_MAX 4096                /* bytes of a slave's line */
#define PVMD_START_SETTINGS 64

struct pvmd_start_setting {
    char *name, *value; /* of an environment variable */
};

/* All texts belong to the struct. */
struct pvmd_start_text {
    struct pvmd_machine machine;
    uint32_t master_index, master_incarnation;
    char *master_name;
    uint32_t index, incarnation;
    char *name;
    int speed;
    char *exec_path, *working_dir, *debugger; /* "" when not given; variables are for the slave to expand */
    char *listen_ip;                          /* becomes PVM_IP of daemon and tasks; "": it stays as it is there */
    bool shares_machine;                      /* other daemons of this user run there: files need names of their own */
    struct pvmd_start_setting settings[PVMD_START_SETTINGS];
    unsigned setting_count;
};

/* The text, NUL-terminated, for the caller to free (it holds the secret: wipe it first). NULL when out of memory. */
char *pvmd_start_text_format(const struct pvmd_start_text *t);

/*
 * Reads it: 0; PVMI_EVERSION for another version's, PVMI_EFORMAT, PVMI_ELIMIT, PVMI_ENOMEM. Whatever it returns, *t is
 * to be freed with pvmd_start_text_free().
 */
int pvmd_start_text_parse(const char *text, size_t length, struct pvmd_start_text *t);
void pvmd_start_text_free(struct pvmd_start_text *t);

/* Whether `text` holds the last line of a start text. */
bool pvmd_start_text_is_whole(const char *text, size_t length);

/* ---- from the slave ---- */

enum pvmd_start_line_kind {
    PVMD_LINE_NOISE, /* something else: what a login shell prints */
    PVMD_LINE_START,
    PVMD_LINE_OTHER_VERSION, /* a daemon of another version, or another PVM's; only `protocol` is set */
    PVMD_LINE_ERROR,         /* `code` and `why` */
};

struct pvmd_start_line {
    long protocol;
    char arch[64];
    pvmi_dsig dsig;
    uint16_t port;
    struct pvmd_addresses ssh;       /* the address that the slave's ssh server was called at; none or one */
    struct pvmd_addresses addresses; /* of its interfaces */
    char key[65];                    /* public key in hexadecimal, where a hoster has started it; else "" */
    int code;                        /* PvmXxx */
    char why[512];
};

/* Adds the address that this host's ssh server was called at, where we run under it. */
void pvmd_start_line_add_ssh(struct pvmd_start_line *line);

/* Reads a line, its newline apart. Anything that is no well-formed line of a slave is noise. */
enum pvmd_start_line_kind pvmd_start_line_parse(const char *text, struct pvmd_start_line *line);

/* Writes a start line, or an error line, without newline; returns its length, cut to size - 1. */
size_t pvmd_start_line_format(const struct pvmd_start_line *line, char *text, size_t size);
size_t pvmd_error_line_format(int code, const char *why, char *text, size_t size);

#endif
