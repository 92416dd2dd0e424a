/** A program that runs containers until it is killed. The processes of each container ignore signals, and start separate sessions. */
import { once } from 'node:events'
import { createNamespacesDriver } from '../../../../../src/devcluster/pods/namespaces/namespaces-driver.ts'
import { environment } from './driver.ts'

const driver = await createNamespacesDriver()
const pod = await driver.createSandbox({ hostname: 'x', address: '10.244.0.2', hostNetwork: false })
const command = ['sh', '-c', `trap '' TERM HUP; (setsid sleep 1000 &); (setsid sh -c 'trap "" TERM; sleep 1000' &); echo ready; sleep 1000`]
const options = { command, environment, isRootReadOnly: false, mounts: [], tty: false, stdin: true }
const containers = [
  await pod.start(options),
  await pod.start({ ...options, user: { uid: 999, gid: 999, supplementalGroups: [] } }),
  await pod.start({ ...options, tty: true }),
]
await Promise.all(containers.map(({ stdout }) => once(stdout, 'readable')))
await containers[0]!.execute({ command: ['sleep', '1000'], tty: false, stdin: true })
await containers[1]!.execute({ command: ['sleep', '1000'], tty: true, stdin: true })
await pod.connect(1).catch(() => undefined)
process.stdout.write('ready\n')
