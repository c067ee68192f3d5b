/* diagnose.c - finds out why a host could not be added and says what to do. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "console/console.h"
#include "console/progress.h"
#include "cure.h"
#include "diagnose.h"
#include "target.h"
#include "trial.h"

enum {
    HOSTS_TRIED_MAX = 4, /* each trial may take 10 seconds */
    LOG_READ_MAX = 65536,
};

struct log_mark {
    char path[PATH_MAX];
    ino_t inode; /* of the log at that time; a full log is renamed to "<path>.old" */
    off_t end;
};

/* ---- the daemon's log ---- */

struct log_mark *diagnose_begin(void)
{
    struct log_mark *mark = calloc(1, sizeof(*mark));
    const char *vmid = getenv("PVM_VMID");
    struct stat status;

    if (mark == NULL)
        return NULL;
    bool named = vmid != NULL && *vmid != '\0';
    snprintf(mark->path, sizeof(mark->path), "%s/pvml.%u%s%s", pvmgettmp(), (unsigned)getuid(), named ? "." : "",
             named ? vmid : "");
    if (stat(mark->path, &status) == 0) {
        mark->inode = status.st_ino;
        mark->end = status.st_size;
    }
    return mark;
}

int diagnose_addhosts(char **names, int count, int *status)
{
    fflush(stdout);
    int auto_error = pvm_setopt(PvmAutoErr, 1);
    if (count == 1)
        progress_begin("adding %s", names[0]);
    else
        progress_begin("adding %d hosts", count);
    int code = pvm_addhosts(names, count, status);
    progress_end();
    pvm_setopt(PvmAutoErr, auto_error);
    return code;
}

void diagnose_end(struct log_mark *mark)
{
    free(mark);
}

/* Appends the file's contents after the mark to text; all contents if it is not the marked file. */
static size_t append_news(const struct log_mark *mark, const char *path, char *text, size_t length)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &status) < 0)
        return length;
    ssize_t got = pread(fd, text + length, LOG_READ_MAX, status.st_ino == mark->inode ? mark->end : 0);
    close(fd);
    return length + (got > 0 ? (size_t)got : 0);
}

static bool has_moved(const struct log_mark *mark, const char *old)
{
    struct stat status;

    return mark->inode != 0 && stat(old, &status) == 0 && status.st_ino == mark->inode;
}

/* What was logged since the mark, or NULL. The caller frees it. */
static char *log_news(const struct log_mark *mark)
{
    char old[PATH_MAX + 4];
    char *text = mark != NULL ? malloc(2 * LOG_READ_MAX + 1) : NULL;
    size_t length = 0;

    if (text == NULL)
        return NULL;
    snprintf(old, sizeof(old), "%s.old", mark->path);
    if (has_moved(mark, old))
        length = append_news(mark, old, text, length);
    length = append_news(mark, mark->path, text, length);
    text[length] = '\0';
    return text;
}

/* Whether the line contains the word, not only as part of a longer name. */
static bool has_word(const char *line, const char *word)
{
    static const char name_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strlen(word);

    for (const char *p = line; length > 0 && (p = strstr(p, word)) != NULL; p++)
        if ((p == line || strchr(name_letters, p[-1]) == NULL) &&
            (p[length] == '\0' || !strchr(name_letters, p[length])))
            return true;
    return false;
}

/* The remedy for the last known error in lines that name the host, or NULL. Modifies text. */
static const char *log_cure(char *text, const char *host)
{
    const char *cure = NULL;

    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        const char *known = has_word(line, host) ? cure_find(line) : NULL;
        cure = known != NULL ? known : cure;
    }
    return cure;
}

/* ---- remedies ---- */

static const struct {
    int code;
    const char *cure;
} meanings[] = {
    {PvmNoHost, "the name is unknown here: check its spelling, or add it to DNS or /etc/hosts"},
    {PvmBadVersion, "its pvmd has another version: install the same on both hosts (pvm --version shows this one)"},
    {PvmIPLoopback,
     "other hosts cannot reach this host's loopback address: start pvm with -nNAME, where NAME has an address that "
     "they can reach, or set PVM_IP"},
    {PvmOutOfRes, "a limit is exceeded; see pvmd's log"},
    {PvmDenied, "its pvmd refused us; see its log"},
};

/* The remedy for a failure, from the log or else from the code; NULL if neither gives one. */
static const char *find_by_reason(const struct target *t, int code, const struct log_mark *mark)
{
    char *news = log_news(mark);
    const char *cure = news != NULL ? log_cure(news, t->name) : NULL;

    free(news);
    for (size_t i = 0; cure == NULL && i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (meanings[i].code == code)
            cure = meanings[i].cure;
    return cure;
}

/* Prints the remedy for one failure; returns whether it ran a trial. */
static bool explain(char *name, int code, const struct log_mark *mark, bool may_try)
{
    struct target t;
    const char *cure, *launcher = NULL;
    char why[64];

    if (target_read(name, &t, why, sizeof(why)) == 0) {
        cure = find_by_reason(&t, code, mark);
        if (cure == NULL && may_try && (code == PvmCantStart || code == PvmDSysErr || code == PvmHostFail))
            launcher = target_launcher(&t);
        if (cure != NULL)
            cure_print(cure, t.name);
        else if (launcher != NULL)
            trial_host(launcher, &t);
    }
    target_free(&t);
    return launcher != NULL;
}

void diagnose_failed(char **names, const int *status, int count, struct log_mark *mark)
{
    int tried = 0;

    for (int i = 0; i < count; i++) {
        if (status[i] >= 0 || status[i] == PvmDupHost || status[i] == PvmSysErr || status[i] == PvmAlready)
            continue; /* the error text says enough */
        fflush(stdout);
        tried += explain(names[i], status[i], mark, tried < HOSTS_TRIED_MAX);
    }
}
