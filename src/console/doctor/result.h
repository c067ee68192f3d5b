/* result.h - what a probe has found: a JSON object {name, severity, text, cure}. A list of results is a JSON array. */
#ifndef RESULT_H
#define RESULT_H

#include <jansson.h>

enum severity { SEVERITY_OK, SEVERITY_WARNING, SEVERITY_ERROR, SEVERITIES };

/* Its name in JSON and for users. */
const char *severity_name(enum severity severity);

/* Adds a result. `cure` says what to do, in words or as a command; "" if there is nothing to do. */
__attribute__((format(printf, 5, 6))) void result_add(json_t *list, const char *name, enum severity severity,
                                                      const char *cure, const char *format, ...);

/* Adds a result from a message that ends with what to do, as those of core/place do: it is divided. */
void result_add_why(json_t *list, const char *name, enum severity severity, const char *why);

enum { RESULTS_MAX = 256, RESULT_TEXT_MAX = 2000 };

/* Adds copies of another computer's results that are well formed, and drops the others. Returns how many it dropped. */
int result_add_foreign(json_t *list, const json_t *foreign);

/* How many of them have this severity. */
int result_count(const json_t *list, enum severity severity);

#endif
