/*
 * log.h - the log. A daemon sends it to its log file, a task to stderr, a test to a buffer.
 */
#ifndef PVMC_LOG_H
#define PVMC_LOG_H

#include <stdarg.h>

enum pvmc_log_level { PVMC_LOG_ERROR, PVMC_LOG_WARNING, PVMC_LOG_INFO, PVMC_LOG_DEBUG };

/* Receives one formatted line without a newline. Must not call the log itself. */
typedef void pvmc_log_sink(enum pvmc_log_level level, const char *line, void *arg);

/* Sends all later lines up to `level` to `sink`; NULL restores stderr. Called when a program starts. */
void pvmc_log_to(pvmc_log_sink *sink, void *arg, enum pvmc_log_level level);

/* Logs one line in printf style, without a newline. Control characters are made visible (see visible.h), then the line
 * is truncated to 1023 bytes. Preserves errno. */
void pvmc_log(enum pvmc_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pvmc_vlog(enum pvmc_log_level level, const char *format, va_list args);

/* Logs once per call site and process: for conditions that recur. */
#define pvmc_log_once(level, ...)                                                                                      \
    do {                                                                                                               \
        static int said_;                                                                                              \
        if (!said_) {                                                                                                  \
            said_ = 1;                                                                                                 \
            pvmc_log(level, __VA_ARGS__);                                                                              \
        }                                                                                                              \
    } while (0)

#endif
