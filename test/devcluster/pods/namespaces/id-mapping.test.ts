/** Tests of the mapping of ids in the user namespace of the cluster. */
import { userInfo } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { idMappings } from '../../../../src/devcluster/pods/namespaces/id-mapping.ts'

const [uid, gid] = [process.getuid!(), process.getgid!()]
const asRoot = uid === 0 ? ['machine'] : []

t.test('subordinate ids of the user, by name and by uid', async (t) => {
  const folder = t.testdir({
    subuid: `other:100000:65536\n${uid}:200000:1000\nmalformed\n${uid}:x:5\n`,
    subgid: `# comment\n${userInfo().username}:300000:500\n${uid}:400000:7\n`,
  })
  const mappings = await idMappings({ uids: join(folder, 'subuid'), gids: join(folder, 'subgid') })
  t.strictSame(
    mappings.map(({ kind }) => kind),
    [...asRoot, 'subordinate', 'single'],
  )
  const found = mappings.find(({ kind }) => kind === 'subordinate')!
  t.match(found, { uids: 1001, gids: 508 })
  t.ok(found.hasOwner(uid, gid))
  t.ok(found.hasOwner(200_999, 400_006))
  t.notOk(found.hasOwner(201_000, 400_006))
  t.notOk(found.hasOwner(200_999, 400_007))
})

t.test('a user without subordinate ids has one id', async (t) => {
  const mappings = await idMappings({ uids: '/not/there', gids: '/not/there' })
  t.strictSame(
    mappings.map(({ kind }) => kind),
    [...asRoot, 'single'],
  )
  t.match(mappings.at(-1), { uids: 1, gids: 1 })
  t.ok(mappings.at(-1)!.hasOwner(uid, gid))
  t.notOk(mappings.at(-1)!.hasOwner(uid + 1, gid))
})
