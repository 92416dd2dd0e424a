import t from 'tap'
import { base64Problem } from '../../src/formats/go-base64.ts'

// Each offset `at` is the offset in the error of Go's base64.StdEncoding.DecodeString. For valid base64, `at` is undefined.
const texts: readonly (readonly [text: string, at: number | undefined])[] = [
  ['', undefined],
  ['YWJj', undefined],
  ['YWI=', undefined],
  ['YQ==', undefined],
  ['YR==', undefined],
  ['YW\r\nJj', undefined],
  ['YWI=\n', undefined],
  ['YQ=\n=\r\n', undefined],
  ['\n', undefined],
  ['YW-j', 2],
  ['=WJj', 0],
  ['Y===', 1],
  ['YQ=', 3],
  ['YQ=A', 2],
  ['YQ=\nA', 3],
  ['YWJjY', 4],
  ['YWJjYWI', 4],
  ['YWI', 0],
  ['A\nA', 1],
  ['+\n\r\n/', 3],
  ['+///\nA', 5],
  ['AAAA\nA-AA', 6],
  ['\n\n-', 2],
  ['\né==', 1],
  ['AA==A', 4],
  ['AA==AAAA', 4],
  ['AAA=A', 4],
  ['AQ==\nQ\n', 5],
  ['/\nQ\n==AA=', 6],
  ['AAA++=', 5],
  ['/=', 1],
]

t.test('invalid base64 is reported with the offset of Go', async (t) => {
  for (const [text, at] of texts)
    t.equal(base64Problem(text), at === undefined ? undefined : `illegal base64 data at input byte ${at}`, JSON.stringify(text))
})

t.test('each alphabet accepts only its own digits', async (t) => {
  t.equal(base64Problem('+/Az'), undefined)
  t.equal(base64Problem('-_Az', 'url'), undefined)
  t.equal(base64Problem('A-_A'), 'illegal base64 data at input byte 1')
  t.equal(base64Problem('A+/A', 'url'), 'illegal base64 data at input byte 1')
})
