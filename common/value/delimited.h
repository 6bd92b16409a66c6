/*
 * delimited.h - writes cells of csv and tsv; cmd/trdecode/rows_table.c reads them
 */
#ifndef TR_VALUE_DELIMITED_H
#define TR_VALUE_DELIMITED_H

#include <stddef.h>

struct buffer;
struct text;

/* Append a cell of RFC 4180: quoted if it contains a quote, a comma or a line end. An empty text
 * is quoted too, so that it differs from no text. -1 when out of memory. */
int csv_append(struct buffer *b, const char *p, size_t n);

/* Append the text inside the quotes of such a cell, for a cell that is written in pieces. */
int csv_append_inside(struct buffer *b, const char *p, size_t n);

/* Append a cell with tab, newline, carriage return and backslash as \t \n \r \\: a row is one
 * line, a cell has no tab. */
int tsv_append(struct buffer *b, const char *p, size_t n);

/* Write such cells. */
void csv_put(struct text *out, const char *p, size_t n);
void tsv_put(struct text *out, const char *p, size_t n);

#endif
