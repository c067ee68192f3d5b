/*
 * petition.h - requests to the master, which are carried out once and answered once even if the master is replaced
 * meanwhile: the asker asks the next master again, and the answers are among the tables that all members keep.
 */
#ifndef PVMD_PETITION_H
#define PVMD_PETITION_H

#include "core/buf.h"
#include "pvmd/net/rpc.h"
#include "tables.h"

/* ---- asking ---- */

/*
 * Asks the master, now or when there is one. `answered` is called once, as with pvmd_ask(); with PvmHostFail only when
 * this daemon ends. `body` stays the caller's.
 */
void pvmd_ask_master(enum pvmd_dm what, const struct pvmc_buf *body, pvmd_answered *answered, void *arg);

/* The same, with `head`, if not NULL, before `body`: for a body that is too large to be copied behind it first. */
void pvmd_ask_master_headed(enum pvmd_dm what, const struct pvmc_buf *head, const struct pvmc_buf *body,
                            pvmd_answered *answered, void *arg);

/* ---- answering, at the master ---- */

/* A request that waits for its answer. A handler may copy it by value and answer later. */
struct pvmd_petition {
    struct pvmd_question question;
    uint32_t number; /* of the asker's requests */
    uint32_t oldest; /* of those that it has no answer to */
};

/* As pvmd_dm_handler. */
typedef int pvmd_petition_handler(const struct pvmd_petition *p, struct pvmc_buf *body);

void pvmd_petition_handle(enum pvmd_dm what, pvmd_petition_handler *handler);

/* Answers a request that has changed nothing, once it is sure that we still lead. */
void pvmd_petition_answer(const struct pvmd_petition *p, int code, const struct pvmc_buf *body);

/* The request has changed this table: tells the others, and answers once the change is committed. */
void pvmd_petition_changed(const struct pvmd_petition *p, enum pvmd_table_kind kind, const struct pvmc_buf *change,
                           int code, const struct pvmc_buf *body);

/* The request is carried out as far as it can be only once: the next master would give this answer. We give it later.
 */
void pvmd_petition_keep(const struct pvmd_petition *p, int code, const struct pvmc_buf *body);

/* ---- events, start and end ---- */

void pvmd_petition_committed(uint32_t seq);
void pvmd_petition_master_changed(void);
void pvmd_petition_host_left(unsigned index);
void pvmd_petition_start(void);
void pvmd_petition_stop(void);

#endif
