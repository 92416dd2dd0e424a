/** Tests of the fields of containers that the driver `plain` refuses. */
import t from 'tap'
import type { ContainerOptions } from '../../../../src/devcluster/pods/driver.ts'
import { unsupported } from '../../../../src/devcluster/pods/plain/unsupported.ts'
import { container } from '../../../support/pods/plain/container.ts'

const [uid, gid, groups] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0, process.getgroups?.() ?? []]
const other = 65_001
const user = (changes: Partial<NonNullable<ContainerOptions['user']>>) => ({ user: { uid, gid, supplementalGroups: [], ...changes } })
const mount = (source: string, target: string, isReadOnly = false) => ({ mounts: [{ source, target, isReadOnly }] })

const accepted: [string, Partial<ContainerOptions>][] = [
  ['nothing special', {}],
  ['the own user', user({})],
  ['the own groups', user({ supplementalGroups: [gid, ...groups] })],
  ['a folder at its own path', mount('/data', '/data')],
  ['a folder at its own path in other words', mount('/data/', '/data/a/..')],
  ['a terminal', { tty: true, stdin: true }],
]
const refused: [Partial<ContainerOptions>, string[]][] = [
  [{ image: '/images/a' }, ['image: a process has the files of this machine and cannot have the root /images/a']],
  [{ isRootReadOnly: true }, ['securityContext.readOnlyRootFilesystem: a process can write where the user of Proreus can']],
  [user({ uid: other }), [`securityContext.runAsUser: a process has the uid of Proreus, ${uid}, and not ${other}`]],
  [user({ gid: other }), [`securityContext.runAsGroup: a process has the gid of Proreus, ${gid}, and not ${other}`]],
  [
    user({ supplementalGroups: [other, other] }),
    [`securityContext.supplementalGroups or fsGroup: the user of Proreus is not in the group ${other}`],
  ],
  [mount('/a', '/data'), ['volumeMounts.mountPath: a process sees /a at its own path, and not at /data']],
  [mount('/data', '/data', true), ['volumeMounts.readOnly: a process can write to /data if the user of Proreus can']],
]

for (const [name, options] of accepted)
  t.test(`${name} is accepted`, async (t) => t.strictSame(unsupported(container(['true'], options)), []))

for (const [options, problems] of refused)
  t.test(`refused: ${problems.join()}`, async (t) => t.strictSame(unsupported(container(['true'], options)), problems))

t.test('all problems are listed', async (t) => {
  const options = { image: '/a', isRootReadOnly: true, ...user({ uid: other, gid: other }), ...mount('/a', '/b') }
  t.equal(unsupported(container(['true'], options)).length, 5)
})
