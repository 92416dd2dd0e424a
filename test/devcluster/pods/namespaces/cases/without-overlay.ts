/**
 * Test cases for a machine on which overlay mounts are not permitted. On such a machine, the folders of the machine are read-only in a
 * container.
 */
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { Connector } from '../../../../../src/devcluster/pods/namespaces/connector.ts'
import { tryMounts } from '../../../../../src/devcluster/pods/namespaces/mount-support.ts'
import { NamespacesPod } from '../../../../../src/devcluster/pods/namespaces/namespaces-pod.ts'
import { openCluster } from '../../../../../src/devcluster/pods/namespaces/open-cluster.ts'
import { PodNamespaces } from '../../../../../src/devcluster/pods/namespaces/pod-namespaces.ts'
import { run } from './driver.ts'

t.test('without overlays, a container sees the folders of the machine read-only, and volumes at new paths', async (t) => {
  const { cluster } = await openCluster({ bridgeAddress: '10.244.0.1/16', temporaryDirectory: tmpdir() })
  t.teardown(() => cluster!.close())
  const support = { ...(await tryMounts(cluster!)), overlay: false }
  t.match(support, { proc: true, sysfs: true })
  const pod = new NamespacesPod({
    cluster: cluster!,
    namespaces: await PodNamespaces.open(cluster!, { hostname: 'pod', link: 'pod0', network: undefined }),
    support,
    unshare: '/usr/bin/unshare',
    connector: new Connector(cluster!.enter(['net', 'pid'])),
    address: '10.244.0.1',
    hostNetwork: true,
    folder: 'pod0',
    onRemoved: () => undefined,
  })
  const volume = mkdtempSync(join(tmpdir(), 'volume-'))
  writeFileSync(join(volume, 'file'), 'volume\n')
  const before = readdirSync('/opt').sort()
  const mounts = ['/opt/new/path', '/usr/share/new', '/home'].map((target) => ({ source: volume, target, isReadOnly: false }))
  const script = `
    cat /opt/new/path/file /usr/share/new/file /home/file
    ls /opt | tr '\\n' ' '; echo
    echo 2>/dev/null >/usr/bin/new || echo refused
    echo a >/tmp/a && cat /tmp/a`
  t.match(await run(pod, script, { mounts }), {
    code: 0,
    stdout: `volume\nvolume\nvolume\n${[...before, 'new'].sort().join(' ')} \nrefused\na\n`,
    stderr: '',
  })
  t.strictSame(readdirSync('/opt').sort(), before)
  const image = mkdtempSync(join(tmpdir(), 'image-'))
  for (const folder of ['usr', 'bin', 'lib', 'lib64']) mkdirSync(join(image, folder))
  const machine = ['usr', 'bin', 'lib', 'lib64'].map((folder) => ({ source: `/${folder}`, target: `/${folder}`, isReadOnly: true }))
  t.match(await run(pod, 'echo x >/new; echo /*', { image, mounts: machine }), {
    code: 0,
    stdout: '/bin /dev /lib /lib64 /new /proc /run /sys /tmp /usr\n',
  })
  t.strictSame(readdirSync(image).sort(), ['bin', 'lib', 'lib64', 'usr'])
  await pod.remove()
})
