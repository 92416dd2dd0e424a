/** Tests of the string types of ASN.1. */
import t from 'tap'
import { readDer } from '../../src/certs/der-reader.ts'
import { derText } from '../../src/certs/der-text.ts'

const malformed = 'asn1: syntax error: a string contains an invalid character'

t.test('a string is decoded by its tag', (t) => {
  for (const [hex, text] of [
    ['0c02c3a9', 'é'],
    ['0c04f09f9880', '😀'],
    ['0c05efbbbf6161', '\ufeffaa'],
    ['1203312032', '1 2'],
    ['1303612a26', 'a*&'],
    ['1401e9', 'é'],
    ['16026140', 'a@'],
    ['1e0400610162', 'aŢ'],
    ['1e0400610000', 'a'],
    ['0c00', ''],
  ] as const)
    t.equal(derText(readDer(Buffer.from(hex, 'hex'))), text, hex)
  t.end()
})

t.test('a string with characters that its type does not have is refused', (t) => {
  for (const hex of ['0c01e9', '0c03eda080', '120161', '130140', '1601e9', '1e0161', '1e02d800', '1e02fdd0', '1e02ffff'])
    t.throws(() => derText(readDer(Buffer.from(hex, 'hex'))), { message: malformed }, hex)
  t.end()
})

t.test('a value with another tag, and a constructed string, have no text', (t) => {
  // The values are, in this order: an INTEGER, a VisibleString, a GeneralString, a UniversalString, a constructed UTF8String, and a string
  // with a context-specific tag. `derText` returns undefined for each of them.
  for (const hex of ['020161', '1a0161', '1b0161', '1c0400000061', '2c030c0161', '8c0161'])
    t.equal(derText(readDer(Buffer.from(hex, 'hex'))), undefined, hex)
  t.end()
})
