/*
 * tokens.h - tokens, with which daemons join by themselves (pvmd3 --join). All members keep the table, so that each of
 * them can judge a token and any of them can become the master; the master alone changes it.
 *
 * A token is good for some time and for a number of hosts. A host that joined with it and is lost, and not deleted, may
 * use it once more for PVM_REJOIN_TIMEOUT. Times are told to others as time left, so clocks need not agree.
 */
#ifndef PVMD_TOKENS_H
#define PVMD_TOKENS_H

#include <stdbool.h>
#include <stdint.h>
#include "pvmd/base/hosts.h"
#include "pvmd/net/preface.h"

/* Whether the token in this place (machine.h) is good: GO, or why not. */
enum pvmd_verdict pvmd_tokens_judge(unsigned place);

/*
 * Master: one use is set aside for a daemon that is about to join; false if none is left. It is given back if the
 * daemon does not become a member, or counts for good if it does.
 */
bool pvmd_tokens_take(unsigned place);
void pvmd_tokens_give_back(unsigned place);
void pvmd_tokens_spend(unsigned place);

/* Whether it is revoked; and whom to tell once one is, so that daemons that are about to join with it do not. */
bool pvmd_tokens_is_revoked(unsigned place);
void pvmd_tokens_on_revoked(void (*tell)(unsigned place));

/* Master: a member is lost. If it joined with a token, it may come back. */
void pvmd_tokens_host_lost(const struct pvmd_host *host);

/* The id of the token in this place, for messages; valid until the next call. */
const char *pvmd_tokens_id(unsigned place);

/*
 * At the start of a master, once it listens: accepts the token in this file for any number of hosts, without limit of
 * time. 0, or a PVMC_E code, logged with the remedy.
 */
int pvmd_tokens_accept(const char *path);

/* Events, start and end. */
void pvmd_tokens_committed(uint32_t seq);
void pvmd_tokens_start(void);
void pvmd_tokens_stop(void);

#endif
