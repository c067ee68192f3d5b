/*
 * hostfile.h - host options, as a line of a hostfile or as pvm_addhosts() gives them, and whole hostfiles.
 *
 *   name [option=value ...]     a host to be started, with its options
 *   & name [option=value ...]   options for a host that is added later
 *   * option=value ...          defaults for the lines below, and those of the last such line for hosts added later
 *   # comment
 *
 * A "$" before the name allows several daemons on that machine. Options: lo so dx ep wd sp bx ip id at.
 */
#ifndef PVMD_HOSTFILE_H
#define PVMD_HOSTFILE_H

#include <stdbool.h>
#include <stddef.h>

#define PVMD_HOSTFILE_MAX ((size_t)16 << 20) /* bytes of a hostfile */
#define PVMD_OPTION_MAX   8191               /* bytes of one word */

/* The options' texts are NULL where none was given. */
struct pvmd_host_spec {
    char *name;
    bool later;        /* "&" */
    bool overload;     /* "$" */
    char *login;       /* lo= */
    char *start;       /* so=: "pw", "ms", "local", "ssh", "rsh" */
    char *daemon_path; /* dx= */
    char *exec_path;   /* ep= */
    char *working_dir; /* wd= */
    char *debugger;    /* bx= */
    char *ip;          /* ip= */
    char *vmid;        /* id= */
    char *atm_host;    /* at= */
    char *answer;      /* what a daemon started by hand has printed: words such as ddpro<...>; only when adding */
    int speed;         /* sp=, 0: not given */
};

struct pvmd_hostfile {
    struct pvmd_host_spec *hosts;
    size_t count, capacity;
    struct pvmd_host_spec defaults; /* of the last "*" line; its name is NULL */
};

/*
 * Reads one line's worth: `text` need not end in NUL. 0; PVMI_EFORMAT with what is wrong in why[size]; PVMI_ENOMEM.
 * Whatever it returns, *spec is to be freed. A line without words gives a spec without a name.
 */
int pvmd_host_spec_parse(const char *text, size_t length, struct pvmd_host_spec *spec, char *why, size_t size);

/* Fills what is not given in *spec from *defaults (copies). 0 or PVMI_ENOMEM. */
int pvmd_host_spec_default(struct pvmd_host_spec *spec, const struct pvmd_host_spec *defaults);

void pvmd_host_spec_free(struct pvmd_host_spec *spec);

/* Reads a whole hostfile's text. All faults are logged as "file:line: fault"; the code is that of the first. */
int pvmd_hostfile_parse(const char *file, const char *text, size_t length, struct pvmd_hostfile *out);

/* Reads a hostfile from disk: also PVMI_ESYSTEM when it cannot be read, PVMI_ELIMIT when it is too large. Logged. */
int pvmd_hostfile_read(const char *path, struct pvmd_hostfile *out);

/* The line for this host, or NULL. */
const struct pvmd_host_spec *pvmd_hostfile_find(const struct pvmd_hostfile *f, const char *name);

void pvmd_hostfile_free(struct pvmd_hostfile *f);

/* Whether a text can be a host's name: nothing that a shell or a command line could take for something else. */
bool pvmd_host_name_is_valid(const char *name);

#endif
