/*
 * startup.h - the texts that master and slave exchange over a launcher's channel, before there is a link.
 *
 * The master writes the start text to the slave's stdin. Its lines are printable, so that a user can paste them to
 * start a daemon by hand. The slave prints one line to stdout, the start line or an error line. Layouts:
 * doc/protocol.md.
 */
#ifndef PVMD_STARTUP_H
#define PVMD_STARTUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/message/dsig.h"
#include "wire/address.h"
#include "pvmd/base/hosts.h"
#include "pvmd/net/machine.h"

#define PVMD_START_TEXT_MAX ((size_t)128 << 10) /* bytes of a start text */
#define PVMD_START_LINE_MAX 4096                /* bytes of a slave's line */
#define PVMD_START_SETTINGS 64

struct pvmd_start_setting {
    char *name, *value; /* of an environment variable */
};

/* All texts belong to the struct. */
struct pvmd_start_text {
    struct pvmd_machine machine;
    uint32_t master_index, master_incarnation, master_port;
    char *master_name;
    uint32_t index, incarnation;
    char *name;
    int speed;
    int slots;                                /* 0: the host's own default */
    char *exec_path, *working_dir, *debugger; /* "" if not given; the slave expands variables */
    char *listen_ip;                          /* PVM_IP of daemon and tasks; "": as it is there */
    bool shares_machine;                      /* other daemons of this user run there, so files need other names */
    struct pvmd_start_setting settings[PVMD_START_SETTINGS];
    unsigned setting_count;
};

/* Makes the text, NUL-terminated. The caller wipes it, since it holds the secret, and frees it. NULL: out of memory. */
char *pvmd_start_text_format(const struct pvmd_start_text *t);

/*
 * Reads a start text. Returns 0, PVMC_EVERSION for another version's text, PVMC_EFORMAT, PVMC_ELIMIT, or PVMC_ENOMEM.
 * The caller frees *t with pvmd_start_text_free() in all cases.
 */
int pvmd_start_text_parse(const char *text, size_t length, struct pvmd_start_text *t);
void pvmd_start_text_free(struct pvmd_start_text *t);

/* Whether `text` holds the last line of a start text. */
bool pvmd_start_text_is_whole(const char *text, size_t length);

/* ---- from the slave ---- */

enum pvmd_start_line_kind {
    PVMD_LINE_NOISE, /* anything else, such as a login shell's greeting */
    PVMD_LINE_START,
    PVMD_LINE_OTHER_VERSION, /* a daemon of another version, or another PVM's; only `protocol` and `version` are set */
    PVMD_LINE_ERROR,         /* `code` and `why` */
};

struct pvmd_start_line {
    long protocol;
    char version[32]; /* of dpvm, in letters that can be shown; "": none told */
    char arch[64];
    int slots;
    pvmc_dsig dsig;
    uint16_t port;
    struct pvmw_addresses ssh;       /* the address at which ssh reached the slave; none or one */
    struct pvmw_addresses addresses; /* of its interfaces */
    char key[65];                    /* public key in hexadecimal if a hoster has started it, else "" */
    int code;                        /* PvmXxx */
    char why[512];
};

/* Fills in what every start line of this daemon, which listens at `port`, has. */
void pvmd_start_line_begin(struct pvmd_start_line *line, uint16_t port);

/* If we run under sshd, adds the address at which it was called. */
void pvmd_start_line_add_ssh(struct pvmd_start_line *line);

/* Reads a line without its newline. Anything but a well-formed line of a slave is noise. */
enum pvmd_start_line_kind pvmd_start_line_parse(const char *text, struct pvmd_start_line *line);

/* Write a start line or an error line without newline. Return its length, cut to size - 1. */
size_t pvmd_start_line_format(const struct pvmd_start_line *line, char *text, size_t size);
size_t pvmd_error_line_format(int code, const char *why, char *text, size_t size);

#endif
