/* log.c - formats one line and hands it to the sink. */
#include "log.h"
#include <errno.h>
#include <stdio.h>

#define LINE_BYTES 1024

static void to_stderr(enum pvmi_log_level level, const char *line, void *arg)
{
    (void)level;
    (void)arg;
    fprintf(stderr, "dpvm: %s\n", line);
}

static struct {
    pvmi_log_sink *sink;
    void *arg;
    enum pvmi_log_level level;
} target = {to_stderr, NULL, PVMI_LOG_WARNING};

void pvmi_log_to(pvmi_log_sink *sink, void *arg, enum pvmi_log_level level)
{
    target.sink = sink ? sink : to_stderr;
    target.arg = arg;
    target.level = level;
}

/* Lines may quote what strangers sent: nothing in them can start a new line or move a terminal's cursor. */
static void defuse(char *line)
{
    for (unsigned char *c = (unsigned char *)line; *c; c++)
        if ((*c < ' ' && *c != '\t') || *c == 0x7f)
            *c = '?';
}

void pvmi_vlog(enum pvmi_log_level level, const char *format, va_list args)
{
    if (level > target.level)
        return;
    int saved_errno = errno;
    char line[LINE_BYTES];
    vsnprintf(line, sizeof line, format, args);
    defuse(line);
    target.sink(level, line, target.arg);
    errno = saved_errno;
}

void pvmi_log(enum pvmi_log_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pvmi_vlog(level, format, args);
    va_end(args);
}
