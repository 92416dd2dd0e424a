/** The dictionary with which SPDY/3 compresses headers (SPDY Protocol Draft 3.1, section 2.6.10.1). */

/**
 * The words of the dictionary. `_` stands for a space in a word. In the dictionary, the length of each word precedes the word, as in a
 * header block.
 */
const words =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow authorization ' +
  'cache-control connection content-base content-encoding content-language content-length content-location content-md5 content-range ' +
  'content-type date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified ' +
  'location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding ' +
  'upgrade user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie keep-alive origin'

/** Values of the dictionary. Unlike the words, the values are not preceded by their lengths. */
const values =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found' +
  '500 Internal Server Error501 Not Implemented503 Service Unavailable' +
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT' +
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,' +
  'publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.'

/** Returns the length of a text, followed by the bytes of the text, as in a header block. */
export function withLength(text: string): Buffer {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

export const dictionary: Buffer = Buffer.concat([
  ...words.split(' ').map((word) => withLength(word.replace('_', ' '))),
  Buffer.from(values),
])
