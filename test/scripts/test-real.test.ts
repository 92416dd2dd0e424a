import { join } from 'node:path'
import t from 'tap'
import { testFiles } from '../../scripts/test-files.ts'
import { finished, repository } from '../support/process/process.ts'

t.test('npm test runs the tests that need no real control plane', (t) => {
  const all = testFiles([])
  t.ok(all.includes('test/scripts/test-real.test.ts'))
  t.strictSame(
    all.filter((file) => file.startsWith('test/real/')),
    [],
  )
  t.strictSame(testFiles(['test/scripts/']), testFiles(['test/scripts']))
  t.strictSame(testFiles(['test/a.test.ts']), ['test/a.test.ts'])
  t.end()
})

t.test('without Go, skipped files are listed with the reason, and fail in CI', async (t) => {
  const file = 'test/conformance/control-plane.test.ts'
  const run = (ci: object): ReturnType<typeof finished> =>
    finished(process.execPath, [join(repository, 'scripts/test-real.ts'), file], { env: { HOME: t.testdir(), PATH: '/nowhere', ...ci } })
  const { code, stdout, stderr } = await run({})
  t.match(stderr, /etcd is not here and there is no Go to build it: install Go 1\.26 or newer/)
  t.equal(stdout, `  skipped: ${file} (there is no real control plane)\n0 passed, 0 failed, 1 skipped\n`)
  t.equal(code, 0)
  const inCi = await run({ CI: 'true' })
  t.match(inCi.stdout, /^0 passed, 1 failed, 1 skipped$/m)
  t.equal(inCi.code, 1)
})
