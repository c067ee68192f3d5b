/*
 * arrival.h - a daemon that has come to our door with a token, and joins by itself (applicant.h): the channel to it.
 *
 * It asks with one line. From then on the channel is what a launcher's command would be: the master writes the start
 * text, and the daemon answers with its start line. A member that is not the master names the master's address instead.
 */
#ifndef PVMD_ARRIVAL_H
#define PVMD_ARRIVAL_H

#include <stddef.h>
#include <stdint.h>
#include "pvmd/launch/launch.h"
#include "pvmd/net/preface.h"

struct pvmd_arrival;

/* The line with which it asks, and the word before the master's addresses; see doc/protocol.md. */
#define PVMD_ARRIVAL_ASKS  "dpvm-join"
#define PVMD_ARRIVAL_MOVED "dpvm-master"

/* As pvmd_listen_events asks: whether the caller with this token may enter; and takes it in. */
enum pvmd_verdict pvmd_arrival_judge(unsigned place);
void pvmd_arrival_enter(unsigned place, int fd, const uint8_t key[PVMD_KEY_BYTES]);

/* ---- for newcomer.c and add.c ---- */

/* Of the token that it has: its place. */
unsigned pvmd_arrival_token(const struct pvmd_arrival *a);

/* Where it calls from. */
const union pvmw_address *pvmd_arrival_address(const struct pvmd_arrival *a);

/* Whether it runs on this machine. */
bool pvmd_arrival_is_local(const struct pvmd_arrival *a);

/* Writes the start text (copied). One of the events follows, from the loop; after `failed` the arrival is gone. */
void pvmd_arrival_start(struct pvmd_arrival *a, const char *text, const struct pvmd_launch_events *events, void *owner);

/* Whether its token has been revoked meanwhile. */
bool pvmd_arrival_is_revoked(const struct pvmd_arrival *a);

/*
 * It is linked: the use of its token that is set aside is the newcomer's from now on. Or it has been told why not
 * (`why` may be NULL), and the use is given back. Closes the channel and frees it. No event follows.
 */
void pvmd_arrival_release(struct pvmd_arrival *a);
void pvmd_arrival_refuse(struct pvmd_arrival *a, int code, const char *why);

void pvmd_arrival_listen(void); /* at the start: for tokens that are revoked */
void pvmd_arrival_stop(void);

#endif
