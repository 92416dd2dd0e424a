import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { ensurePrograms } from '../../scripts/tools.ts'
import { cachedProgram, programs, programVersion } from '../../src/testing/binaries.ts'
import { finished, repository } from '../support/process/process.ts'

/**
 * Returns an environment with an empty home folder and a fake program `go`. The parameter `go` is the shell script that the fake program
 * runs.
 */
function machine(t: { testdir(): string }, go: string): { env: Record<string, string>; calls: () => string[] } {
  const home = t.testdir()
  mkdirSync(join(home, 'bin'))
  writeFileSync(join(home, 'bin/go'), `#!/bin/sh\n${go}`)
  chmodSync(join(home, 'bin/go'), 0o755)
  const log = join(home, 'calls')
  return {
    env: { HOME: home, PATH: `${join(home, 'bin')}:/usr/bin:/bin`, CALLS: log },
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
  }
}

const builds = `echo "$PWD $*" >> "$CALLS"
echo example.com/some/package >&2
while [ "$1" != -o ]; do shift; done
echo built > "$2"`

t.test('a missing program is built once, with its version, even for concurrent callers', async (t) => {
  const { env, calls } = machine(t, builds)
  const lines: string[] = []
  const ensure = (): Promise<unknown> => ensurePrograms(['kube-apiserver', 'etcd'], { env, progress: (line) => lines.push(line) })
  const [paths] = await Promise.all([ensure(), ensure()])
  t.strictSame(paths, { 'kube-apiserver': cachedProgram('kube-apiserver', env), etcd: cachedProgram('etcd', env) })
  t.equal(calls().length, 2)
  const [apiServer] = calls()
  t.match(apiServer, join(repository, 'tools/kubernetes'))
  t.match(apiServer, `-X=k8s.io/component-base/version.gitVersion=${programVersion('kube-apiserver', env)}`)
  t.match(apiServer, /-trimpath .* k8s\.io\/kubernetes\/cmd\/kube-apiserver$/)
  t.ok(lines.some((line) => /^\rbuilding kube-apiserver .* 1 packages$/.test(line)))
  t.ok(lines.some((line) => /^\rbuilt etcd .* in \d+ s: /.test(line)))
  await ensure()
  t.equal(calls().length, 2, 'existing programs are not built again')
})

t.test('a failed build has the output of Go, and leaves no files', async (t) => {
  const { env } = machine(t, 'echo "go: no such module" >&2; exit 1')
  await t.rejects(ensurePrograms(['kwok'], { env }), {
    code: 'PRO_CONFIG_INVALID',
    message: `kwok ${programs.kwok.version} cannot be built:\ngo: no such module`,
  })
  t.strictSame(readdirSync(dirname(cachedProgram('kwok', env))), [])
})

t.test('a machine without Go gets one sentence', async (t) => {
  const env = { HOME: t.testdir(), PATH: '/nowhere' }
  const { code, stdout, stderr } = await finished(process.execPath, [join(repository, 'scripts/tools.ts'), 'kubectl'], { env })
  t.strictSame(
    { code, stdout, stderr },
    {
      code: 1,
      stdout: '',
      stderr:
        '\nkubectl is not here and there is no Go to build it: install Go 1.26 or newer, name the program with TEST_ASSET_KUBECTL, or set KUBEBUILDER_ASSETS to a folder with it.\n',
    },
  )
})
