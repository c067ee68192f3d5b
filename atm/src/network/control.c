/* control.c - signalling messages to cells and back, and their time at the processor. */
#include "control.h"
#include <stdlib.h>
#include "nodes/fabric.h"
#include "network_parts.h"
#include "nodes/vc_end.h"

/* A message at the processor. */
struct pvma_task {
    struct pvma_job job;
    struct pvma_task *next;
    struct pvma_control *control;
    bool out;     /* to be sent through the port; else received there */
    bool dropped; /* the port's link was lost in the meantime */
    unsigned port;
    struct pvma_signal signal;
};

/* ---- cells ---- */

static void emit(struct pvma_control *control, unsigned port, struct pvma_cell *cell)
{
    if (control->node->is_host)
        pvma_host_urgent(pvma_host_of(control->node), port, cell);
    else
        pvma_switch_emit(pvma_switch_of(control->node), port, cell, PVMA_VBR);
}

void pvma_control_send(struct pvma_control *control, unsigned port, const struct pvma_signal *signal)
{
    uint8_t wire[PVMA_SIGNAL_MAX];
    struct pvma_segmenter segmenter = {0};
    size_t length = pvma_signal_encode(signal, wire);
    pvma_segmenter_start(&segmenter, PVMA_AAL5, 0, wire, length);
    while (segmenter.next < segmenter.cells) {
        struct pvma_cell *cell = pvma_cell_new(control->node->cells);
        pvma_segmenter_next(&segmenter, cell);
        cell->vpi = 0;
        cell->vci = PVMA_VCI_SIGNALLING;
        emit(control, port, cell);
    }
}

/* ---- the processor ---- */

static void finish_task(struct pvma_job *job)
{
    struct pvma_task *task = PVMA_OF(job, struct pvma_task, job);
    struct pvma_control *control = task->control;
    control->head = task->next;
    if (!control->head)
        control->tail = &control->head;
    pvma_sim_note(control->node->sim, (uint64_t)task->signal.type << 40 ^ task->signal.call);
    if (task->dropped)
        ;
    else if (task->out)
        pvma_control_send(control, task->port, &task->signal);
    else
        control->act(control, task->port, &task->signal);
    free(task);
}

static void spend(struct pvma_control *control, bool out, unsigned port, const struct pvma_signal *signal)
{
    struct pvma_task *task = pvma_new(sizeof *task);
    *task =
        (struct pvma_task){.job.done = finish_task, .control = control, .out = out, .port = port, .signal = *signal};
    *control->tail = task;
    control->tail = &task->next;
    pvma_stage_put(control->stage, &task->job, control->cost);
}

void pvma_control_originate(struct pvma_control *control, unsigned port, const struct pvma_signal *signal)
{
    spend(control, true, port, signal);
}

static void take_cell(struct pvma_control *control, unsigned port, struct pvma_cell *cell)
{
    struct pvma_reassembler *in = &control->in[port];
    struct pvma_signal signal;
    enum pvma_reassembly result = pvma_reassembler_take(in, cell, NULL);
    pvma_cell_put(control->node->cells, cell);
    if (result == PVMA_MORE)
        return;
    if (result == PVMA_PDU && !pvma_signal_decode(&signal, in->data, in->length))
        spend(control, false, port, &signal);
    else
        control->malformed++;
}

static void host_cell(struct pvma_host *host, unsigned port, struct pvma_cell *cell)
{
    take_cell(host->control, port, cell);
}

static void switch_cell(struct pvma_switch *s, unsigned port, struct pvma_cell *cell)
{
    take_cell(s->control, port, cell);
}

void pvma_control_lose_link(struct pvma_control *control, unsigned port)
{
    for (struct pvma_task *task = control->head; task; task = task->next)
        task->dropped |= task->port == port;
    pvma_reassembler_free(&control->in[port]);
    pvma_reassembler_init(&control->in[port], PVMA_AAL5, PVMA_SIGNAL_MAX);
    if (control->node->is_host)
        pvma_calls_lose_link(control, port);
    else
        pvma_passages_lose_link(control, port);
}

/* ---- life ---- */

static struct pvma_control *install(struct pvma_net *net, struct pvma_node *node)
{
    struct pvma_control *control = pvma_new(sizeof *control);
    control->net = net;
    control->node = node;
    control->tail = &control->head;
    control->in = pvma_new(node->ports * sizeof *control->in);
    for (unsigned port = 0; port < node->ports; port++)
        pvma_reassembler_init(&control->in[port], PVMA_AAL5, PVMA_SIGNAL_MAX);
    pvma_stage_init(&control->own, node->sim);
    return control;
}

static void remove_control(struct pvma_control *control)
{
    while (control->head) {
        struct pvma_task *task = control->head;
        control->head = task->next;
        free(task);
    }
    for (unsigned port = 0; port < control->node->ports; port++)
        pvma_reassembler_free(&control->in[port]);
    free(control->in);
    free(control);
}

void pvma_control_install(struct pvma_net *net)
{
    for (size_t i = 0; i < net->host_count; i++) {
        struct pvma_host *host = net->hosts[i];
        struct pvma_control *control = install(net, &host->node);
        control->stage = &host->processor;
        control->cost = pvma_host_cost(host, PVMA_COST_signal);
        control->act = pvma_call_act;
        host->control = control;
        host->signal_cell = host_cell;
    }
    for (size_t i = 0; i < net->switch_count; i++) {
        struct pvma_switch *s = net->switches[i];
        struct pvma_control *control = install(net, &s->node);
        control->stage = &control->own;
        control->cost = s->options.signal;
        control->act = pvma_passage_act;
        s->control = control;
        s->signal_cell = switch_cell;
    }
}

void pvma_control_remove(struct pvma_net *net)
{
    for (size_t i = 0; i < net->host_count; i++) {
        pvma_calls_free(net->hosts[i]->control);
        remove_control(net->hosts[i]->control);
    }
    for (size_t i = 0; i < net->switch_count; i++) {
        pvma_passages_free(net->switches[i]->control);
        remove_control(net->switches[i]->control);
    }
}
