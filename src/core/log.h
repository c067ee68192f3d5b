/*
 * log.h - the one log. The daemon points it at its log file, a task at stderr, a test at a buffer.
 */
#ifndef PVMI_LOG_H
#define PVMI_LOG_H

#include <stdarg.h>

enum pvmi_log_level { PVMI_LOG_ERROR, PVMI_LOG_WARNING, PVMI_LOG_INFO, PVMI_LOG_DEBUG };

/* Receives one formatted line without its newline. Must not log itself. */
typedef void pvmi_log_sink(enum pvmi_log_level level, const char *line, void *arg);

/* Sends all later lines up to `level` to `sink`. Called by a program's start-up. NULL restores stderr. */
void pvmi_log_to(pvmi_log_sink *sink, void *arg, enum pvmi_log_level level);

/* Logs one line (printf style, no newline, made visible, then at most 1023 bytes: more is cut). errno is kept. */
void pvmi_log(enum pvmi_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pvmi_vlog(enum pvmi_log_level level, const char *format, va_list args);

/* Logs an error once per call place and process: for conditions that would repeat. */
#define pvmi_log_once(level, ...)                                                                                      \
    do {                                                                                                               \
        static int said_;                                                                                              \
        if (!said_) {                                                                                                  \
            said_ = 1;                                                                                                 \
            pvmi_log(level, __VA_ARGS__);                                                                              \
        }                                                                                                              \
    } while (0)

#endif
