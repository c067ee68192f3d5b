/*
 * control.h - what visitors may do with --control: add hosts, spawn tasks, kill tasks. A thread does it, one thing
 * after the other, because a slow host keeps it waiting.
 */
#ifndef WEB_CONTROL_H
#define WEB_CONTROL_H

#include <jansson.h>
#include <stdbool.h>

/* Starts the thread. False: the system has none left. */
bool control_open(void);

/*
 * Takes a wish, `action` being "add", "spawn" or "kill" and `body` what the page sends (doc/web.md). Its number, to be
 * found in a result; or 0 with the reason in *why.
 */
int control_wish(const char *action, json_t *body, const char **why);

/* The results since the last time: an array of {request, good, text}; NULL if there are none. */
json_t *control_results(void);

void control_close(void);

#endif
