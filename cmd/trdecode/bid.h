/*
 * bid.h - what a probe answers
 */
#ifndef TR_TRDECODE_BID_H
#define TR_TRDECODE_BID_H

/* How sure a decoder is that an input has its format. The decoder with the highest bid reads the
 * input; of equal bids the first name wins. */
enum bid {
	BID_NONE,   /* the input does not have the format */
	BID_CHANCE, /* other content may have these bytes by chance */
	BID_LIKELY, /* names of files or words of text that other content seldom has */
	BID_MAGIC,  /* a magic number of at least four bytes */
	BID_HEADER, /* a valid header: a magic number and what follows it */
};

#endif
