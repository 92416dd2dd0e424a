/** Tests of mount tables: /proc/PID/mountinfo and fstab. */
import t from 'tap'
import { MountTable, fstab, isWithin } from '../../../../src/devcluster/pods/namespaces/mount-table.ts'

const mountinfo = `22 27 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:5 - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
28 27 0:30 / /home/a\\040b\\134c rw,nosuid,nodev,noatime shared:7 master:1 - ext4 /dev/vdb rw
29 27 0:31 / /var/lib/docker/overlay2/x/merged rw,relatime - overlay overlay rw,lowerdir=a
30 27 0:32 / /snap/core/1 ro,nodev,relatime shared:9 - squashfs /dev/loop1 ro
31 28 0:33 / /home/a\\040b\\134c rw,noexec shared:8 - ext4 /dev/vdc rw
`

t.test('a mount table', async (t) => {
  const table = new MountTable(mountinfo)
  t.strictSame(table.mountPoints, ['/proc', '/', '/home/a b\\c', '/home/a b\\c'])
  t.ok(table.has('/snap/core/1'))
  t.notOk(table.has('/snap'))
  t.strictSame(table.optionsToKeep('/etc/hosts'), ['relatime'])
  t.strictSame(table.optionsToKeep('/home/a b\\c/file'), ['noexec'], 'the later mount covers the earlier one')
  t.strictSame(table.optionsToKeep('/home/a b\\cd'), ['relatime'])
  t.strictSame((await MountTable.of(process.pid)).has('/'), true)
})

t.test('a path is within a folder', async (t) => {
  for (const [path, folder, expected] of [
    ['/a/b', '/a', true],
    ['/a', '/a', true],
    ['/ab', '/a', false],
    ['/a', '/', true],
    ['/', '/a', false],
  ] as const)
    t.equal(isWithin(path, folder), expected, `${path} in ${folder}`)
})

t.test('special characters of paths are escaped in fstab', async (t) => {
  const entry = { source: '/a b\\c', target: '/#x\ny\tz', options: ['bind', 'ro'] }
  t.equal(fstab([entry]), '/a\\040b\\134c /\\043x\\012y\\011z none bind,ro\n')
  t.equal(fstab([{ source: 'proc', target: '/proc', type: 'proc', options: ['nosuid'] }]), 'proc /proc proc nosuid\n')
  t.equal(fstab([{ ...entry, source: '/\u00a0' }]), '/\\302\\240 /\\043x\\012y\\011z none bind,ro\n')
})
