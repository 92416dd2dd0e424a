import t from 'tap'
import { CriEncoder, maxEntryBytes, parseEntry } from '../../../../src/devcluster/pods/logs/cri-format.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'

const prefix = '2026-01-01T00:00:00.007000000Z stdout'

function encoded(chunks: readonly (string | Buffer)[], batchBytes = 1000): string {
  const encoder = new CriEncoder('stdout', new FakeClock('2026-01-01T00:00:00.007Z'), batchBytes)
  let text = ''
  for (const chunk of chunks) for (const batch of encoder.encode(Buffer.from(chunk))) text += batch.toString()
  return text + encoder.end().toString()
}

/**
 * The format of the entries is that of k8s.io/cri-client/pkg/logs: parseCRILog. The tags are those of
 * github.com/containerd/containerd/internal/cri/io: redirectLogs.
 */
t.test('lines become entries', async (t) => {
  const long = 'x'.repeat(maxEntryBytes)
  const facts: readonly (readonly [title: string, chunks: readonly string[], text: string])[] = [
    ['nothing', [], ''],
    ['a line', ['a\n'], `${prefix} F a\n`],
    ['empty lines', ['\n\n'], `${prefix} F \n${prefix} F \n`],
    ['a line in several chunks', ['a', 'b', 'c\nd', '\n'], `${prefix} F abc\n${prefix} F d\n`],
    ['a line without an end', ['a\nb'], `${prefix} F a\n${prefix} P b\n`],
    ['carriage returns stay', ['a\r\n'], `${prefix} F a\r\n`],
    ['the longest line', [`${long}\n`], `${prefix} F ${long}\n`],
    ['one byte more', [`${long}y\n`], `${prefix} P ${long}\n${prefix} F y\n`],
    ['a long line in chunks', [long, 'y', `${long}\n`], `${prefix} P ${long}\n${prefix} P y${long.slice(1)}\n${prefix} F x\n`],
  ]
  for (const [title, chunks, text] of facts) t.equal(encoded(chunks), text, title)
})

t.test('a character that is divided between chunks or entries stays whole', async (t) => {
  const bytes = Buffer.from('é\n')
  t.equal(encoded([bytes.subarray(0, 1), bytes.subarray(1)]), `${prefix} F é\n`)
})

t.test('entries are returned in batches of about the given size', async (t) => {
  const encoder = new CriEncoder('stderr', new FakeClock(), 100)
  const sizes = [...encoder.encode(Buffer.from('0123456789\n'.repeat(10)))].map(({ length }) => length)
  t.strictSame(sizes, [102, 102, 102, 102, 102])
})

/** The expected results are those of k8s.io/cri-client/pkg/logs: parseCRILog. */
t.test('entries are parsed', async (t) => {
  const facts: readonly (readonly [line: string, text: string | undefined])[] = [
    ['2016-10-06T00:17:09.669794202Z stdout F log content\n', 'log content\n'],
    ['2016-10-06T00:17:09.669794202Z stderr P log content\n', 'log content'],
    ['2016-10-06T00:17:09.669794202Z stderr P:x:y log content\n', 'log content'],
    ['2016-10-06T00:17:09.669794202Z stderr F:P \n', '\n'],
    ['2016-10-06T00:17:09.669794202Z stdout PX a\n', 'a\n'],
    ['2016-10-06T00:17:09.669794202Z stdin F a\n', undefined],
    ['2016-10-06T00:17:09.669794202Z stdout F\n', undefined],
    ['2016-10-06T00:17:09.669794202Z\n', undefined],
    ['\n', undefined],
    ['torn', undefined],
  ]
  for (const [line, text] of facts) t.equal(parseEntry(Buffer.from(line))?.text.toString(), text, line)
  t.match(parseEntry(Buffer.from(facts[0]![0])), { time: '2016-10-06T00:17:09.669794202Z', stream: 'stdout' })
})
