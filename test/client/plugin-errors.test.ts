import t from 'tap'
import { PluginErrors } from '../../src/client/plugin-errors.ts'

const jwt = `eyJhbGciOiJub25lIn0.${'eyJzdWIiOiJqYW5lIn0'.repeat(20)}.c2lnbmF0dXJl`

/** Passes these chunks to `PluginErrors`. Returns the error output that `PluginErrors` writes, and the error message. */
function copyOf(...chunks: readonly string[]): { written: string[]; all: string; message: string } {
  const written: string[] = []
  const errors = new PluginErrors((text) => void written.push(text))
  for (const chunk of chunks) errors.add(chunk)
  errors.close()
  return { written, all: written.join(''), message: errors.message() }
}

t.test('lines are copied as soon as they are complete, and the rest at the end', (t) => {
  const { written, message } = copyOf('open https://login.exa', 'mple.com/?code=AB12\nwait', 'ing\n', 'do', 'ne')
  t.strictSame(written, ['open https://login.example.com/?code=AB12\n', 'waiting\n', 'done'])
  t.equal(message, 'open https://login.example.com/?code=AB12\nwaiting\ndone')
  t.strictSame(copyOf(), { written: [], all: '', message: '' })
  t.end()
})

t.test('secrets are redacted, also in parts and over several lines', (t) => {
  for (const chunks of [[`token ${jwt} rejected\n`], [`token ${jwt.slice(0, 30)}`, `${jwt.slice(30)} rejected\n`]]) {
    const { all, message } = copyOf(...chunks)
    t.equal(all, 'token [redacted] rejected\n')
    t.equal(message, 'token [redacted] rejected')
  }
  const key = ['-----BEGIN PRIVATE KEY-----\n', 'MIIEvQIBADAN\n', 'BgkqhkiG9w0B\n', '-----END PRIVATE KEY-----\n', 'bad key\n']
  const { all, message } = copyOf('before\n', ...key)
  t.notMatch(all + message, /MIIE|BgkqhkiG/)
  t.match(all, /^before\n\[redacted\]/)
  t.match(message, /bad key$/)
  t.end()
})

t.test('the output is limited, and the message is its end', (t) => {
  const { written, all, message } = copyOf(
    'first line\n',
    'y\n'.repeat(1000),
    ...Array.from({ length: 100 }, () => 'x'.repeat(30_000)),
    ' the end\n',
  )
  t.ok(all.length < 9000, `${all.length} characters`)
  t.match(all, /^first line\n/)
  t.equal(written.at(-1), '… (the plugin writes more than is shown)\n')
  t.equal(message, 'the end')
  t.equal(copyOf('word '.repeat(5000)).message.length, 300)
  t.end()
})

t.test('a secret at the border of the limits is not shown in part', (t) => {
  for (let length = 7700; length < 8300; length += 50) {
    const { all, message } = copyOf(
      `${'x'.repeat(100)}\n`.repeat(Math.floor(length / 101)),
      `${' '.repeat(length % 101)}${jwt}\n`,
      'z'.repeat(8000),
    )
    t.notMatch(all + message, /IiOiJqYW5l/, `after ${length} characters`)
  }
  const long = copyOf(`${jwt}${'IiOiJqYW5l'.repeat(1000)} is rejected\n`)
  t.equal(long.message, 'is rejected')
  t.equal(long.all, '… (the plugin writes more than is shown)\n')
  t.end()
})
