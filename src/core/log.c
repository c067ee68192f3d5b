/* log.c - formats one line and hands it to the sink. */
#include "log.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "visible.h"

#define LINE_BYTES 1024

static void to_stderr(enum pvmc_log_level level, const char *line, void *arg)
{
    (void)level;
    (void)arg;
    fprintf(stderr, "dpvm: %s\n", line);
}

static struct {
    pvmc_log_sink *sink;
    void *arg;
    enum pvmc_log_level level;
} target = {to_stderr, NULL, PVMC_LOG_WARNING};

void pvmc_log_to(pvmc_log_sink *sink, void *arg, enum pvmc_log_level level)
{
    target.sink = sink ? sink : to_stderr;
    target.arg = arg;
    target.level = level;
}

void pvmc_vlog(enum pvmc_log_level level, const char *format, va_list args)
{
    if (level > target.level)
        return;
    int saved_errno = errno;
    char text[LINE_BYTES], line[LINE_BYTES];
    vsnprintf(text, sizeof text, format, args);
    pvmc_visible_bytes(line, sizeof line, text, strlen(text)); /* it may quote foreign bytes */
    target.sink(level, line, target.arg);
    errno = saved_errno;
}

void pvmc_log(enum pvmc_log_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pvmc_vlog(level, format, args);
    va_end(args);
}
