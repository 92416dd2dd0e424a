import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { ProgramName } from '../../src/testing/binaries.ts'
import {
  cachedProgram,
  findProgram,
  kubernetesMinor,
  kubernetesReleases,
  programCache,
  programVersion,
  programs,
  requirePrograms,
} from '../../src/testing/binaries.ts'
import { sources } from '../../scripts/tools.ts'
import { repository } from '../support/process/process.ts'

const names = Object.keys(programs) as ProgramName[]

function program(path: string, mode = 0o755): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '', { mode })
  return path
}

t.test('the variable of a program takes precedence over the folder, and the folder over the cache', async (t) => {
  const home = t.testdir()
  const env: Record<string, string> = { HOME: home }
  t.equal(await findProgram('etcd', env), undefined)
  const cached = program(join(home, '.cache/proreus/bin', programs.etcd.version, 'etcd'))
  t.equal(await findProgram('etcd', env), cached)
  env.KUBEBUILDER_ASSETS = join(home, 'assets')
  t.equal(await findProgram('etcd', env), cached, 'a folder without it is skipped')
  const inFolder = program(join(home, 'assets/etcd'))
  t.equal(await findProgram('etcd', env), inFolder)
  env.TEST_ASSET_ETCD = program(join(home, 'mine'))
  t.equal(await findProgram('etcd', env), env.TEST_ASSET_ETCD)
  t.equal(await findProgram('kwok', env), undefined)
})

t.test('each program has its variable, with the names of envtest', async (t) => {
  const path = program(join(t.testdir(), 'mine'))
  for (const [name, variable] of [
    ['etcd', 'TEST_ASSET_ETCD'],
    ['kube-apiserver', 'TEST_ASSET_KUBE_APISERVER'],
    ['kubectl', 'TEST_ASSET_KUBECTL'],
    ['kube-controller-manager', 'TEST_ASSET_KUBE_CONTROLLER_MANAGER'],
    ['kube-scheduler', 'TEST_ASSET_KUBE_SCHEDULER'],
    ['kwok', 'TEST_ASSET_KWOK'],
  ] as const)
    t.equal(await findProgram(name, { HOME: '/none', [variable]: path }), path, name)
})

t.test('XDG_CACHE_HOME sets the cache', async (t) => {
  t.equal(cachedProgram('kwok', { HOME: '/home/a', XDG_CACHE_HOME: '/tmp/c' }), `/tmp/c/proreus/bin/${programs.kwok.version}/kwok`)
})

t.test('a variable that names no program is an error', async (t) => {
  const home = t.testdir()
  const path = program(join(home, 'data'), 0o644)
  await t.rejects(findProgram('kwok', { HOME: home, TEST_ASSET_KWOK: path }), {
    code: 'PRO_CONFIG_INVALID',
    message: `TEST_ASSET_KWOK names ${path}, which cannot be run: correct the variable, or unset it.`,
  })
})

t.test('all missing programs are named at once, with their variables', async (t) => {
  const env = { HOME: t.testdir() }
  await t.rejects(requirePrograms(['etcd', 'kube-apiserver'], env), {
    code: 'PRO_CONFIG_INVALID',
    message:
      'A real control plane needs etcd, kube-apiserver, which are not here: name them with TEST_ASSET_ETCD, TEST_ASSET_KUBE_APISERVER, or set KUBEBUILDER_ASSETS to a folder with them.',
  })
})

t.test('a single missing program is named, and all found programs are returned', async (t) => {
  const home = t.testdir()
  const env = { HOME: home }
  const etcd = program(join(home, '.cache/proreus/bin', programs.etcd.version, 'etcd'))
  await t.rejects(requirePrograms(['etcd', 'kwok'], env), {
    message:
      'A real control plane needs kwok, which is not here: name it with TEST_ASSET_KWOK, or set KUBEBUILDER_ASSETS to a folder with it.',
  })
  const kwok = program(join(home, '.cache/proreus/bin', programs.kwok.version, 'kwok'))
  t.strictSame(await requirePrograms(['kwok', 'etcd'], env), { kwok, etcd })
})

t.test('without HOME the cache is in the home directory of the user', (t) => {
  t.equal(programCache({}), join(homedir(), '.cache/proreus/bin'))
  t.equal(programCache({ HOME: '/a' }), '/a/.cache/proreus/bin')
  t.end()
})

t.test('ENVTEST_K8S_VERSION selects the release of the Kubernetes programs', (t) => {
  for (const requested of ['1.35', 'v1.35', '1.35.x', kubernetesReleases['1.35'], kubernetesReleases['1.35'].slice(1)]) {
    const env = { HOME: '/home/a', ENVTEST_K8S_VERSION: requested }
    t.equal(programVersion('kube-apiserver', env), kubernetesReleases['1.35'], requested)
    t.equal(cachedProgram('kubectl', env), `/home/a/.cache/proreus/bin/${kubernetesReleases['1.35']}/kubectl`)
    t.equal(programVersion('etcd', env), programs.etcd.version)
  }
  t.equal(kubernetesMinor({}), '1.36')
  t.equal(programVersion('kube-apiserver', { ENVTEST_K8S_VERSION: '' }), kubernetesReleases['1.36'])
  t.throws(() => programVersion('kube-apiserver', { ENVTEST_K8S_VERSION: '1.3' }), {
    code: 'PRO_CONFIG_INVALID',
    message: 'ENVTEST_K8S_VERSION selects Kubernetes 1.3, which is not supported: supported are 1.36, 1.35, 1.34.',
  })
  t.end()
})

t.test('the versions match the Go modules that build the programs', async (t) => {
  for (const minor of Object.keys(kubernetesReleases))
    for (const name of names) {
      const env = { ENVTEST_K8S_VERSION: minor }
      const { module, package: source } = sources[name]
      const folder = `tools/${module(env)}`
      const lines = readFileSync(join(repository, folder, 'go.mod'), 'utf8')
        .split('\n')
        .map((line) => line.trim())
      t.ok(
        lines.some((line) => line.replace(/^tool /, '') === source),
        `${folder} has ${source} as a tool`,
      )
      const required = lines.find((line) => source.startsWith(line.replace(/^require /, '').split(' ')[0]!) && / v\d/.test(line))
      t.match(required, ` ${programVersion(name, env)}`, `${name} of ${minor}`)
    }
})
