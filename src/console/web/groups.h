/*
 * groups.h - the groups of the machine. The group server is asked as PVM 3.4's own tools ask it, and answers when it
 * can.
 */
#ifndef WEB_GROUPS_H
#define WEB_GROUPS_H

#include <jansson.h>
#include <stdbool.h>

/* Asks the group server. False: none runs, so there are no groups. */
bool groups_ask(void);

/* Takes an answer, if one has come: an array of groups, or NULL. */
json_t *groups_take(void);

#endif
