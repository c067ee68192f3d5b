/*
 * page.h - the files of the page, embedded by the build (embed.cmake).
 */
#ifndef WEB_PAGE_H
#define WEB_PAGE_H

#include <stddef.h>

struct page_file {
    const char *path, *type;
    const unsigned char *bytes;
    size_t size;
};

/* The last has path NULL; the first is what "/" shows. */
extern const struct page_file page_files[];

#endif
