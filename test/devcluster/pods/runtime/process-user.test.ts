import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { processUser } from '../../../../src/devcluster/pods/runtime/process-user.ts'

const pod = (securityContext?: object): never =>
  ({ metadata: { name: 'web', namespace: 'ns', uid: 'u' }, spec: { containers: [], ...(securityContext && { securityContext }) } }) as never
const container = (securityContext?: object): never => ({ name: 'main', ...(securityContext && { securityContext }) }) as never

t.test('the user comes from the security contexts, then from the image', async (t) => {
  const image = t.testdir({ etc: { passwd: 'root:x:0:0::/root:/bin/sh\npostgres:x:999:998::/:/bin/sh\n', group: 'staff:x:50:\n' } })
  const user = (ofPod: object | undefined, own: object | undefined, imageUser?: string): Promise<unknown> =>
    processUser(pod(ofPod), container(own), { imageUser, image })
  t.equal(await user(undefined, undefined), undefined)
  t.strictSame(await user({ runAsUser: 5, fsGroup: 7, supplementalGroups: [8] }, undefined), { uid: 5, gid: 0, supplementalGroups: [7, 8] })
  t.strictSame(await user({ runAsUser: 5, runAsGroup: 6 }, { runAsUser: 999 }), { uid: 999, gid: 6, supplementalGroups: [] })
  t.strictSame(await user(undefined, { runAsUser: 999 }), { uid: 999, gid: 998, supplementalGroups: [] }, 'the group of the user')
  t.strictSame(await user(undefined, undefined, 'postgres'), { uid: 999, gid: 998, supplementalGroups: [] })
  t.strictSame(await user(undefined, undefined, 'postgres:staff'), { uid: 999, gid: 50, supplementalGroups: [] })
  t.strictSame(await user(undefined, undefined, '7:8'), { uid: 7, gid: 8, supplementalGroups: [] })
  t.strictSame(await user(undefined, undefined, ':8'), { uid: 0, gid: 8, supplementalGroups: [] }, 'a group alone')
  t.strictSame(await user(undefined, { runAsUser: 5 }, 'nobody-here'), { uid: 5, gid: 0, supplementalGroups: [] })
  await t.rejects(user(undefined, undefined, 'absent'), { reason: 'CreateContainerError', message: /unable to find user absent/ })
  await t.rejects(user(undefined, undefined, 'postgres:absent'), { message: /unable to find group absent/ })
})

t.test('with runAsNonRoot, the user must be a uid other than 0', async (t) => {
  const image = t.testdir({ etc: { passwd: 'root:x:0:0::/root:/bin/sh\npostgres:x:999:998::/:/bin/sh\n' } })
  const user = (ofPod: object, own: object | undefined, imageUser?: string): Promise<unknown> =>
    processUser(pod({ runAsNonRoot: true, ...ofPod }), container(own), { imageUser, image })
  const asRoot = 'container has runAsNonRoot and image will run as root'
  const refused: [ofPod: object, own: object | undefined, imageUser: string | undefined, message: string][] = [
    [{}, undefined, undefined, asRoot],
    [{}, undefined, '0:5', asRoot],
    [{}, undefined, ':8', asRoot],
    [{ runAsUser: 0 }, undefined, '7', "container's runAsUser breaks non-root policy"],
    [{ runAsUser: 7 }, { runAsUser: 0 }, undefined, "container's runAsUser breaks non-root policy"],
    [{}, undefined, 'postgres:8', 'container has runAsNonRoot and image has non-numeric user (postgres), cannot verify user is non-root'],
    [{}, undefined, 'absent', 'container has runAsNonRoot and image has non-numeric user (absent), cannot verify user is non-root'],
    [
      {},
      undefined,
      '2147483648',
      'container has runAsNonRoot and image has an invalid user id (2147483648). (Must be 1-(2147483647)): must be between 0 and 2147483647, inclusive',
    ],
  ]
  for (const [ofPod, own, imageUser, message] of refused)
    await t.rejects(user(ofPod, own, imageUser), {
      reason: 'CreateContainerConfigError',
      message: `${message} (pod: "web_ns(u)", container: main)`,
    })
  t.strictSame(await user({}, undefined, '7'), { uid: 7, gid: 0, supplementalGroups: [] })
  t.strictSame(await user({ runAsUser: 7 }, undefined, 'postgres'), { uid: 7, gid: 0, supplementalGroups: [] })
  t.strictSame(await user({}, { runAsNonRoot: false }, 'postgres'), { uid: 999, gid: 998, supplementalGroups: [] })
})

t.test('the user gets the groups in which the image lists it', async (t) => {
  const group = 'app:x:7:app\nstaff:x:50:other,app\nvideo:x:44:root,app\nfs:x:9:app\nwrong:x::app\nold:x:51:alias\n'
  const image = t.testdir({ etc: { passwd: 'root:x:0:0::/:/bin/sh\napp:x:7:7::/:/bin/sh\nalias:x:7:7::/:/bin/sh\n', group } })
  const groups = async (ofPod: object | undefined, options: object = {}): Promise<readonly number[] | undefined> =>
    (await processUser(pod(ofPod), container(), { image, ...options }))?.supplementalGroups
  t.strictSame(await groups({ runAsUser: 7 }), [50, 44, 9])
  t.strictSame(await groups(undefined, { imageUser: 'app' }), [50, 44, 9])
  t.strictSame(await groups(undefined, { imageUser: 'alias:8' }), [51], 'another name of the same uid')
  t.strictSame(await groups({ runAsGroup: 3 }, { imageUser: '7:5' }), [50, 44, 9], 'the group of the process does not matter')
  t.strictSame(await groups({ fsGroup: 9, supplementalGroups: [8] }), [9, 8, 44], 'root without a user')
  t.strictSame(await groups({ runAsUser: 7, fsGroup: 9, supplementalGroups: [8, 50] }), [9, 8, 50, 44])
  t.strictSame(await groups({ runAsUser: 7, supplementalGroupsPolicy: 'Merge' }), [50, 44, 9])
  t.strictSame(await groups({ runAsUser: 7, supplementalGroups: [8], supplementalGroupsPolicy: 'Strict' }), [8])
  t.strictSame(await groups({ runAsUser: 7 }, { getsGroups: false }), [], 'a plain process keeps the groups of Proreus')
  t.strictSame(await groups({ runAsUser: 6 }), [], 'a user without a name')
})

t.test('a file of users that could block or has no end is refused', async (t) => {
  const cases: readonly (readonly [make: (path: string) => void, problem: RegExp])[] = [
    [(path) => execFileSync('mkfifo', [path]), /cannot be read: not a regular file$/],
    [(path) => mkdirSync(path), /cannot be read: not a regular file$/],
    [(path) => makeFile(path, 2 ** 30), /cannot be read: larger than 1048576 bytes$/],
    [(path) => symlinkSync('passwd', path), /cannot be read: .*too many levels of symbolic links$/],
  ]
  for (const [make, problem] of cases) {
    const image = t.testdir({ etc: {} })
    make(join(image, 'etc/passwd'))
    await t.rejects(processUser(pod(), container({ runAsUser: 5 }), { image }), { reason: 'CreateContainerError', message: problem })
  }
})

/** Creates a sparse file of `size` bytes. */
function makeFile(path: string, size: number): void {
  writeFileSync(path, '')
  truncateSync(path, size)
}

t.test('symbolic links of an image do not lead to files of this machine', async (t) => {
  const image = t.testdir({ etc: {}, usr: { passwd: 'app:x:7:8::/:/bin/sh\n' } })
  symlinkSync('/usr/passwd', join(image, 'etc/passwd'))
  symlinkSync('/dev/zero', join(image, 'etc/group'))
  t.strictSame(await processUser(pod(), container(), { imageUser: 'app', image }), { uid: 7, gid: 8, supplementalGroups: [] })
  await t.rejects(processUser(pod(), container(), { imageUser: 'app:app', image }), {
    message: 'unable to find group app: no matching entries in group file',
  })
})
