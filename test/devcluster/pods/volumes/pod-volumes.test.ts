import { lstat, mkdir, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Mount } from '../../../../src/devcluster/pods/driver.ts'
import type { ReadonlyClaim } from '../../../../src/devcluster/pods/volumes/claims.ts'
import type { OwnershipChange } from '../../../../src/devcluster/pods/volumes/ownership.ts'
import { removeDeletedVolumes } from '../../../../src/devcluster/pods/volumes/persistent-volumes.ts'
import { PodVolumes } from '../../../../src/devcluster/pods/volumes/pod-volumes.ts'
import { volumeReferencesOf } from '../../../../src/devcluster/pods/volumes/volume-references.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { containerWith, FakeSources, podWith } from '../../../support/pods/fake-sources.ts'

const uid = '11111111-2222-3333-4444-555555555555'

class Sources extends FakeSources {
  readonly claims = new Map<string, object>()

  async claim(namespace: string, name: string): Promise<ReadonlyClaim | undefined> {
    if (this.failure !== undefined) throw this.failure
    const claim = this.claims.get(name)
    return claim === undefined ? undefined : ({ metadata: { namespace, name }, ...claim } as unknown as ReadonlyClaim)
  }

  bind(name: string, volumeName: string, rest: object = {}): void {
    this.claims.set(name, { spec: { volumeName }, status: { phase: 'Bound' }, ...rest })
  }
}

/** A volume of any type. */
interface VolumeLike {
  readonly name: string
  readonly [type: string]: unknown
}

/** The volumes of a Pod. The container `main` of the Pod mounts each volume at /NAME. */
class World {
  readonly sources = new Sources()
  readonly clock = new FakeClock()
  readonly changes: OwnershipChange[] = []
  readonly stateFolder: string
  readonly volumes: PodVolumes
  readonly #volumes: readonly VolumeLike[]
  readonly #spec: object
  readonly #mounts: readonly object[]
  #tokens = 0

  constructor(t: Test, volumes: readonly VolumeLike[], { spec = {}, mounts }: { spec?: object; mounts?: readonly object[] } = {}) {
    this.stateFolder = t.testdir({})
    this.#volumes = volumes
    this.#spec = spec
    this.#mounts = mounts ?? volumes.map(({ name }) => ({ name, mountPath: `/${name}` }))
    this.volumes = new PodVolumes(this.pod(), {
      stateFolder: this.stateFolder,
      sources: this.sources,
      clock: this.clock,
      changeOwnership: async (changes) => void this.changes.push(...changes),
      allocatable: { cpu: '4' },
      createToken: async ({ expirationSeconds }) => ({
        token: `token-${(this.#tokens += 1)}`,
        expirationSeconds,
        expiresAt: this.clock.now() + expirationSeconds * 1000,
      }),
    })
  }

  pod(metadata: object = {}): ReturnType<typeof podWith> {
    return podWith({ volumes: this.#volumes, containers: [{ name: 'main', volumeMounts: this.#mounts }], ...this.#spec }, metadata)
  }

  async sync(metadata: object = {}): Promise<readonly string[]> {
    return (await this.volumes.sync(this.pod(metadata))).map(({ message }) => message)
  }

  async mounts(container: object = {}, variables: Readonly<Record<string, string>> = {}): Promise<readonly Mount[]> {
    return this.volumes.mounts(containerWith({ volumeMounts: this.#mounts, ...container }), new Map(Object.entries(variables)))
  }

  path(volume: string, file = ''): string {
    return join(this.stateFolder, 'pods', uid, 'volumes', volume, file)
  }

  read(volume: string, file: string): Promise<string> {
    return readFile(this.path(volume, file), 'utf8')
  }

  async names(volume: string): Promise<readonly string[]> {
    return (await readdir(this.path(volume))).filter((name) => !name.startsWith('..')).sort()
  }
}

t.test('each type of volume', async (t) => {
  const world = new World(t, [
    { name: 'scratch', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    { name: 'untyped' },
    { name: 'host', hostPath: { path: '/dev', type: 'Directory' } },
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'login', secret: { secretName: 'login' } },
    { name: 'info', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'shared', persistentVolumeClaim: { claimName: 'data', readOnly: true } },
    { name: 'own', ephemeral: { volumeClaimTemplate: { spec: {} } } },
  ])
  world.sources.setConfigMap('settings', { a: 'é', 'deep.key': 'x' }, { binaryData: { raw: Buffer.from([0, 255]).toString('base64') } })
  world.sources.setSecret('login', { password: Buffer.from([1, 200]) })
  world.sources.bind('data', 'pv-1')
  world.sources.bind('web-own', 'pv-2', { metadata: { name: 'web-own', ownerReferences: [{ controller: true, uid }] } })
  t.strictSame(await world.sync({ labels: { app: 'web' } }), [])
  const persistent = (name: string): string => join(world.stateFolder, 'persistent-volumes', name)
  t.strictSame(await world.mounts(), [
    { source: world.path('scratch'), target: '/scratch', isReadOnly: false },
    { source: world.path('memory'), target: '/memory', isReadOnly: false },
    { source: world.path('untyped'), target: '/untyped', isReadOnly: false },
    { source: '/dev', target: '/host', isReadOnly: false },
    { source: world.path('settings'), target: '/settings', isReadOnly: true },
    { source: world.path('login'), target: '/login', isReadOnly: true },
    { source: world.path('info'), target: '/info', isReadOnly: true },
    { source: persistent('pv-1'), target: '/data', isReadOnly: false },
    { source: persistent('pv-1'), target: '/shared', isReadOnly: true },
    { source: persistent('pv-2'), target: '/own', isReadOnly: false },
  ])
  t.equal(await world.read('settings', 'a'), 'é')
  t.strictSame(await readFile(world.path('settings', 'raw')), Buffer.from([0, 255]))
  t.strictSame(await readFile(world.path('login', 'password')), Buffer.from([1, 200]))
  t.equal(await world.read('info', 'labels'), 'app="web"')
  t.equal((await stat(world.path('settings', 'a'))).mode & 0o777, 0o644)
  t.equal((await stat(world.path('scratch'))).mode & 0o777, 0o777)
  t.equal((await stat(persistent('pv-1'))).mode & 0o777, 0o777)
  t.equal((await stat(join(world.stateFolder, 'pods'))).mode & 0o777, 0o700)
  await writeFile(join(persistent('pv-1'), 'row'), '1')
  await writeFile(world.path('scratch', 'file'), '1')
  t.strictSame(await world.sync({ labels: { app: 'new' } }), [])
  t.equal(await world.read('info', 'labels'), 'app="new"', 'an update')
  t.equal(await world.read('scratch', 'file'), '1', 'an update keeps the files of containers')
  await world.volumes.remove()
  await t.rejects(lstat(join(world.stateFolder, 'pods', uid)), { code: 'ENOENT' })
  t.equal(await readFile(join(persistent('pv-1'), 'row'), 'utf8'), '1', 'a PersistentVolume outlives its Pods')
  t.ok((await stat('/dev/null')).isCharacterDevice(), 'a hostPath stays')
  const removed: string[] = []
  await removeDeletedVolumes(world.stateFolder, new Set(['pv-1']), async (path) => void removed.push(path))
  t.strictSame(removed, [persistent('pv-2')])
})

/**
 * The expected results are those of k8s.io/kubernetes/pkg/volume: configmap.MakePayload, secret.MakePayload, projected.collectData,
 * downwardapi.CollectData.
 */
t.test('items, modes and optional objects', async (t) => {
  const items = [
    { key: 'a', path: 'x/y/a' },
    { key: 'b', path: 'b', mode: 0o400 },
  ]
  const world = new World(t, [
    { name: 'config', configMap: { name: 'c', items, defaultMode: 0o600 } },
    { name: 'secret', secret: { secretName: 's', items, defaultMode: 0o440 } },
    { name: 'nothing', configMap: { name: 'gone', optional: true } },
    { name: 'nokeys', secret: { secretName: 's', optional: true, items: [{ key: 'gone', path: 'p' }] } },
    {
      name: 'all',
      projected: {
        defaultMode: 0o640,
        sources: [
          { configMap: { name: 'c' } },
          { secret: { name: 's', items: [{ key: 'a', path: 'a', mode: 0o444 }] } },
          { configMap: { name: 'gone', optional: true } },
          { downwardAPI: { items: [{ path: 'd/cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' } }] } },
          { serviceAccountToken: { path: 'token', audience: 'vault' } },
        ],
      },
    },
  ])
  world.sources.setConfigMap('c', { a: '1', b: '2', c: '3' })
  world.sources.setSecret('s', { a: 'secret', b: 'x' })
  t.strictSame(await world.sync(), [])
  const modeOf = async (volume: string, file: string): Promise<number> => (await stat(world.path(volume, file))).mode & 0o777
  t.strictSame(await world.names('config'), ['b', 'x'])
  t.equal(await world.read('config', 'x/y/a'), '1')
  t.strictSame([await modeOf('config', 'x/y/a'), await modeOf('config', 'b')], [0o600, 0o400])
  t.equal(await modeOf('secret', 'x/y/a'), 0o440)
  t.strictSame(await world.names('nothing'), [])
  t.strictSame(await world.names('nokeys'), [])
  t.strictSame(await world.names('all'), ['a', 'b', 'c', 'd', 'token'])
  t.equal(await world.read('all', 'a'), 'secret', 'the later source wins')
  t.strictSame([await modeOf('all', 'a'), await modeOf('all', 'b'), await modeOf('all', 'token')], [0o444, 0o640, 0o640])
  t.equal(await world.read('all', 'd/cpu'), '4')
  t.equal(await world.read('all', 'token'), 'token-1')
  world.sources.setConfigMap('gone', { late: 'x' })
  t.strictSame(await world.sync(), [])
  t.equal(await world.read('nothing', 'late'), 'x', 'an optional object may appear later')
  t.strictSame(volumeReferencesOf(world.pod()), { configMaps: new Set(['c', 'gone']), secrets: new Set(['s']) })
})

t.test('a token is renewed at refreshAt', async (t) => {
  const world = new World(t, [
    { name: 'api', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 600 } }] } },
  ])
  t.equal(world.volumes.refreshAt, Number.POSITIVE_INFINITY)
  await world.sync()
  t.equal(await world.read('api', 'token'), 'token-1')
  const version = await readlink(world.path('api', '..data'))
  await world.clock.advance(world.volumes.refreshAt - world.clock.now() - 1)
  await world.sync()
  t.equal(await readlink(world.path('api', '..data')), version)
  await world.clock.advance(1)
  await world.sync()
  t.equal(await world.read('api', 'token'), 'token-2')
  t.ok(world.volumes.refreshAt > world.clock.now() + 400_000)
})

/** The expected results are those of k8s.io/kubernetes/pkg/volume/projected: collectData, and of pkg/volume/util: FsUserFrom. */
t.test('fsGroup and runAsUser', async (t) => {
  const volumes = [
    { name: 'api', projected: { defaultMode: 0o644, sources: [{ serviceAccountToken: { path: 'token' } }] } },
    { name: 'scratch', emptyDir: {} },
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'host', hostPath: { path: t.testdir({}) } },
  ]
  const world = new World(t, volumes, { spec: { securityContext: { fsGroup: 2000, runAsUser: 1000 } } })
  world.sources.bind('data', 'pv-1')
  t.strictSame(await world.sync(), [])
  const short = world.changes.map(({ path, ...change }) => ({
    path: path.slice(world.stateFolder.length).replace(/\.\.2026[^/]*/, 'VERSION'),
    ...change,
  }))
  const pods = `/pods/${uid}/volumes`
  t.strictSame(
    short.filter(({ path }) => path.startsWith(`${pods}/api`)),
    [
      { path: `${pods}/api/VERSION/token`, uid: 1000 },
      { path: `${pods}/api/VERSION/token`, gid: 2000, mode: 0o640 },
      { path: `${pods}/api/VERSION`, gid: 2000, mode: 0o2755 },
      { path: `${pods}/api`, gid: 2000, mode: 0o2777 },
      { path: `${pods}/api/token`, uid: 1000 },
    ],
  )
  t.strictSame(
    short.filter(({ path }) => !path.startsWith(`${pods}/api`)),
    [
      { path: `${pods}/scratch`, gid: 2000, mode: 0o2777 },
      { path: '/persistent-volumes/pv-1', gid: 2000, mode: 0o2777 },
    ],
    'a hostPath keeps its owner',
  )
  world.changes.length = 0
  await world.sync()
  t.strictSame(world.changes, [], 'once')
  const other = new World(t, volumes.slice(0, 1), {
    spec: { securityContext: { runAsUser: 1000 }, initContainers: [{ name: 'init', securityContext: { runAsUser: 0 } }] },
  })
  await other.sync()
  t.strictSame(other.changes, [], 'no user in common')
  t.equal((await stat(other.path('api', 'token'))).mode & 0o777, 0o644)
})

/**
 * The prefix of each expected message comes from k8s.io/kubernetes/pkg/volume/util/operationexecutor: GenerateError. The rest of the
 * message comes from the volume plugin of Kubernetes, or from Proreus if Proreus does not support the volume.
 */
t.test('a volume that is not ready has the message of FailedMount', async (t) => {
  const facts: readonly (readonly [source: object, message: string])[] = [
    [{ configMap: { name: 'y' } }, 'configmap "y" not found'],
    [{ secret: { secretName: 'y' } }, 'secret "y" not found'],
    [{ configMap: { name: 'c', items: [{ key: 'k', path: 'p' }] } }, 'configmap references non-existent config key: k'],
    [{ secret: { secretName: 's', items: [{ key: 'k', path: 'p' }] } }, 'references non-existent secret key: k'],
    [{ configMap: { name: 'c', items: [{ key: 'a', path: '../p' }] } }, "invalid path: must not contain '..': ../p"],
    [{ configMap: { name: 'c', items: [{ key: 'a', path: '/p' }] } }, 'invalid path: must be relative path: /p'],
    [{ configMap: { name: 'hostile' } }, "invalid path: must not contain '..': ../../x"],
    [{ downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'spec.nodeName' } }] } }, 'unsupported fieldPath: spec.nodeName'],
    [{ downwardAPI: { items: [{ path: 'p', resourceFieldRef: { resource: 'limits.cpu' } }] } }, 'container  not found'],
    [
      { projected: { sources: [{ configMap: { name: 'x' } }, { secret: { name: 'y' } }, { configMap: { name: 'x' } }] } },
      '[configmap "x" not found, secret "y" not found]',
    ],
    [
      { projected: { sources: [{ clusterTrustBundle: { name: 'x', path: 'p' } }] } },
      'the projected source clusterTrustBundle is not supported for Pods that run as processes. Supported are secret, configMap, downwardAPI and serviceAccountToken.',
    ],
    [{ emptyDir: { medium: 'HugePages' } }, 'unknown storage medium "HugePages"'],
    [{ hostPath: { path: '/dev/null', type: 'Directory' } }, 'hostPath type check failed: /dev/null is not a directory'],
    [
      { nfs: { server: 's', path: '/' } },
      'the volume type nfs is not supported for Pods that run as processes. Supported are emptyDir, hostPath, secret, configMap, downwardAPI, projected, persistentVolumeClaim and ephemeral.',
    ],
  ]
  for (const [source, message] of facts) {
    const world = new World(t, [{ name: 'x', ...source }, { name: 'fine' }])
    world.sources.setConfigMap('c', { a: '1' })
    world.sources.setConfigMap('hostile', { '../../x': '1' })
    world.sources.setSecret('s', { a: '1' })
    t.strictSame(await world.sync(), [`MountVolume.SetUp failed for volume "x" : ${message}`])
    await t.rejects(world.mounts(), {
      reason: 'CreateContainerConfigError',
      message: 'cannot find volume "x" to mount into container "main"',
    })
    t.ok((await stat(world.path('fine'))).isDirectory(), 'the other volumes are ready')
  }
})

t.test('a volume whose files are too large together is refused', async (t) => {
  const mebibyte = 'x'.repeat(1024 * 1024)
  const itemsOf = (count: number): object[] => Array.from({ length: count }, (_, index) => ({ key: 'k', path: `file-${index}` }))
  const annotation = { fieldPath: "metadata.annotations['k']" }
  const items = itemsOf(33).map((item) => ({ ...item, key: undefined, fieldRef: annotation }))
  const half = { configMap: { name: 'c', items: itemsOf(33) } }
  const tooLarge: readonly object[] = [
    { configMap: { name: 'c', items: itemsOf(65) } },
    { secret: { secretName: 's', items: itemsOf(65) } },
    { downwardAPI: { items: [...items, ...items.map((item, index) => ({ ...item, path: `other-${index}` }))] } },
    { projected: { sources: [half, { downwardAPI: { items: items.map((item, index) => ({ ...item, path: `other-${index}` })) } }] } },
  ]
  const message = 'the files of the volume are larger than 67108864 bytes together: show fewer or smaller keys in it'
  for (const source of tooLarge) {
    const world = new World(t, [{ name: 'x', ...source }])
    world.sources.setConfigMap('c', { k: mebibyte })
    world.sources.setSecret('s', { k: mebibyte })
    t.strictSame(await world.sync({ annotations: { k: mebibyte } }), [`MountVolume.SetUp failed for volume "x" : ${message}`])
  }
  const world = new World(t, [{ name: 'x', projected: { sources: [half, half] } }])
  world.sources.setConfigMap('c', { k: mebibyte })
  t.strictSame(await world.sync(), [], 'a later source replaces the files of an earlier one')
})

/**
 * The expected messages are those of k8s.io/kubernetes/pkg/kubelet/volumemanager/populator: createVolumeSpec, and of volumemanager:
 * WaitForAttachAndMount.
 */
t.test('a claim that is not usable', async (t) => {
  const bound = { status: { phase: 'Bound' } }
  const facts: readonly (readonly [claim: object | undefined, message: string])[] = [
    [undefined, 'error processing PVC ns/data: failed to fetch PVC from API server: persistentvolumeclaims "data" not found'],
    [{ spec: {}, status: { phase: 'Pending' } }, 'error processing PVC ns/data: PVC is not bound'],
    [{ spec: {}, ...bound }, 'error processing PVC ns/data: PVC has empty pvc.Spec.VolumeName'],
    [{ metadata: { deletionTimestamp: 'x' }, spec: { volumeName: 'pv' }, ...bound }, 'error processing PVC ns/data: PVC is being deleted'],
    [{ spec: { volumeName: 'pv', volumeMode: 'Block' }, ...bound }, 'volume x has volumeMode Block, but is specified in volumeMounts'],
  ]
  for (const [claim, message] of facts) {
    const world = new World(t, [{ name: 'x', persistentVolumeClaim: { claimName: 'data' } }, { name: 'fine' }])
    if (claim !== undefined) world.sources.claims.set('data', claim)
    const lists = 'unmounted volumes=[x], unattached volumes=[], failed to process volumes=[x]'
    t.strictSame(await world.sync(), [`Unable to attach or mount volumes: ${lists}: ${message}`])
    world.sources.bind('data', 'pv')
    t.strictSame(await world.sync(), [], 'a later sync succeeds')
  }
  const world = new World(t, [{ name: 'own', ephemeral: {} }])
  world.sources.bind('web-own', 'pv', { metadata: { ownerReferences: [{ controller: true, uid: 'another' }] } })
  t.match(await world.sync(), [/: PVC ns\/web-own was not created for pod ns\/web \(pod is not owner\)$/])
  world.sources.bind('web-own', '../../escape', { metadata: { ownerReferences: [{ controller: true, uid }] } })
  t.match(await world.sync(), [/"\.\.\/\.\.\/escape" cannot be the name of a file$/])
})

t.test('a volume that cannot be updated keeps its content', async (t) => {
  const world = new World(t, [{ name: 'x', configMap: { name: 'c' } }])
  world.sources.setConfigMap('c', { a: '1' })
  await world.sync()
  world.sources.configMaps.delete('c')
  t.strictSame(await world.sync(), ['MountVolume.SetUp failed for volume "x" : configmap "c" not found'])
  world.sources.failure = new Error('the server is down')
  t.strictSame(await world.sync(), ['MountVolume.SetUp failed for volume "x" : the server is down'])
  t.equal(await world.read('x', 'a'), '1')
  t.equal((await world.mounts()).length, 1)
})

t.test('an immutable object is read once', async (t) => {
  const world = new World(t, [{ name: 'x', configMap: { name: 'c' } }])
  world.sources.setConfigMap('c', { a: '1' }, { immutable: true })
  await world.sync()
  world.sources.setConfigMap('c', { a: '2' })
  await world.sync()
  t.equal(await world.read('x', 'a'), '1')
  t.strictSame(world.sources.reads, ['configMap ns/c'])
})

/** The expected results are those of k8s.io/kubernetes/pkg/kubelet/kubelet_pods.go: makeMounts, resolveRecursiveReadOnly. */
t.test('subPath and read-only mounts', async (t) => {
  const world = new World(t, [
    { name: 'c', configMap: { name: 'c' } },
    { name: 'scratch', emptyDir: {} },
  ])
  world.sources.setConfigMap('c', { a: 'one' })
  await world.sync()
  const source = async (mount: object, variables: Readonly<Record<string, string>> = {}): Promise<string> =>
    (await world.mounts({ volumeMounts: [{ mountPath: '/m', ...mount }] }, variables))[0]!.source
  const file = await source({ name: 'c', subPath: 'a' })
  t.match(file, /\/volumes\/c\/\.\.2026_[\d_]+\.\d+\/a$/)
  t.equal(await readFile(file, 'utf8'), 'one')
  world.sources.setConfigMap('c', { a: 'two' })
  await world.sync()
  t.equal(await readFile(await source({ name: 'c', subPath: 'a' }), 'utf8'), 'two', 'the next start sees the update')
  t.equal(await source({ name: 'scratch', subPathExpr: 'logs/$(POD)' }, { POD: 'web' }), world.path('scratch', 'logs/web'))
  t.ok((await stat(world.path('scratch', 'logs/web'))).isDirectory())
  const facts: readonly (readonly [mount: object, message: string])[] = [
    [{ name: 'gone' }, 'cannot find volume "gone" to mount into container "main"'],
    [{ name: 'scratch', subPath: '/etc' }, 'error SubPath `/etc` must not be an absolute path'],
    [{ name: 'scratch', subPath: 'a/../..' }, "unable to provision SubPath `a/../..`: must not contain '..'"],
    [{ name: 'scratch', subPathExpr: '$(UP)' }, "unable to provision SubPath `../..`: must not contain '..'"],
    [{ name: 'scratch', subPathExpr: '$(B)/$(A)$(EMPTY)' }, 'missing value for A, B, EMPTY'],
    [{ name: 'scratch', subPath: 'a\0b' }, 'failed to prepare subPath for volumeMount "scratch" of container "main"'],
    [
      { name: 'scratch', recursiveReadOnly: 'Enabled', readOnly: true },
      'failed to resolve recursive read-only mode: volume "scratch" requested recursive read-only mode, but it is not supported by the runtime',
    ],
    [
      { name: 'scratch', recursiveReadOnly: 'IfPossible' },
      'failed to resolve recursive read-only mode: volume "scratch" requested recursive read-only mode, but it is not read-only',
    ],
    [
      { name: 'scratch', recursiveReadOnly: 'Enabled', readOnly: true, mountPropagation: 'HostToContainer' },
      'failed to resolve recursive read-only mode: volume "scratch" requested recursive read-only mode, but it is not compatible with propagation "HostToContainer"',
    ],
  ]
  for (const [mount, message] of facts) {
    await t.rejects(source(mount, { UP: '../..', EMPTY: '' }), { reason: 'CreateContainerConfigError', message }, message)
  }
  t.strictSame(
    await world.mounts({
      volumeMounts: [{ name: 'scratch', mountPath: 'relative/../../x', readOnly: true, recursiveReadOnly: 'IfPossible' }],
    }),
    [{ source: world.path('scratch'), target: '/x', isReadOnly: true }],
  )
})

/** The expected results are those of k8s.io/kubernetes/pkg/volume/util/nested_volumes.go: getNestedMountpoints. */
t.test('a read-only volume has folders for the volumes that are mounted in it', async (t) => {
  const mounts = ['/dir', '/dir/nested', '/dir/nested/other', '/dir/nested-vol', '/dir2/x', '/dir/a/b'].map((mountPath, index) => ({
    name: index === 0 ? 'c' : 'scratch',
    mountPath,
  }))
  const world = new World(t, [{ name: 'c', configMap: { name: 'c' } }, { name: 'scratch' }], { mounts })
  world.sources.setConfigMap('c', { key: 'x' })
  t.strictSame(await world.sync(), [])
  t.strictSame(await world.names('c'), ['a', 'key', 'nested', 'nested-vol'])
  t.strictSame(await readdir(world.path('c', 'a')), ['b'])
  t.strictSame(await readdir(world.path('c', 'nested')), [])
})

t.test('only volumes that containers use are made, and block devices are refused', async (t) => {
  const world = new World(t, [{ name: 'x', nfs: {} }], { mounts: [] })
  t.strictSame(await world.sync(), [])
  const spec = { containers: [{ name: 'main', volumeDevices: [{ name: 'x', devicePath: '/dev/x' }] }] }
  const devices = new World(t, [{ name: 'x', persistentVolumeClaim: { claimName: 'c' } }], { spec })
  t.strictSame(await devices.sync(), [
    'MountVolume.SetUp failed for volume "x" : block devices are not supported for Pods that run as processes',
  ])
})

t.test('names that would lead out of the state folder are refused', async (t) => {
  const stateFolder = t.testdir({})
  const options = { stateFolder, sources: new Sources(), createToken: () => Promise.reject(new Error('none')) }
  for (const bad of ['..', '.', '', 'a/b', '../x', 'a\0']) {
    t.throws(() => new PodVolumes(podWith({}, { uid: bad }), options), { message: /cannot be the name of a file/ }, bad)
  }
  const world = new World(t, [{ name: '../../x' }])
  t.match(await world.sync(), [/cannot be the name of a file$/])
})

t.test('calls wait for each other', async (t) => {
  const world = new World(t, [{ name: 'x', configMap: { name: 'c' } }])
  world.sources.setConfigMap('c', { a: '1' })
  const all = await Promise.all([world.sync(), world.sync({ labels: { a: 'b' } }), world.mounts(), world.volumes.remove(), world.sync()])
  t.equal(all[2].length, 1)
  t.equal(await world.read('x', 'a'), '1')
  await mkdir(world.path('x', 'late'))
})
