#ifndef KINVAULT_FONTS_H
#define KINVAULT_FONTS_H

/*
 * Has some of the fonts that are installed in memory, for PDFs that do not bring theirs. From then on poppler finds these and no
 * others, without a file being opened: for a process that will not be able to open any.
 *
 * Returns how many there are; 0 where there are none, and then such a PDF shows no letters. To be called once, while there is one
 * thread.
 */
int kv_prepare_fonts(void);

#endif
