import { spawnSync } from 'node:child_process'
import t from 'tap'

const words = (...folders: string[]): string[] => {
  const { status, stdout } = spawnSync(process.execPath, ['scripts/words.ts', ...folders], { encoding: 'utf8' })
  t.equal(status, 0)
  return stdout.trimEnd().split('\n')
}

t.test('the report counts each habit in comments, messages and docs, and lists its places in the given folders', (t) => {
  const [header, ...rows] = words('scripts/words.ts')
  t.match(header, /^not +write +comments +messages +docs$/)
  t.equal(rows.length, 12)
  for (const row of rows) t.match(row, / \d+ +\d+ +\d+$/)
  t.match(rows.at(-1), /^together +\d{4,} comments /)

  const [place] = words('src/devcluster/admission/describe-call-error.ts')
  t.match(place, /^src\/devcluster\/admission\/describe-call-error\.ts:\d+ \[give\] http: server gave HTTP response to HTTPS client$/)
  t.end()
})
