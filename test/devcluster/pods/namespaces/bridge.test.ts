import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import type { NamespacesDriver } from '../../../../src/devcluster/pods/namespaces/namespaces-driver.ts'
import { createNamespacesDriver } from '../../../../src/devcluster/pods/namespaces/namespaces-driver.ts'

const driver = await createNamespacesDriver().catch((error: Error) => error)
const skip = driver instanceof Error && `this machine permits no namespaces: ${driver.message}`

t.test('the bridge keeps its hardware address, which Pods remember, when other Pods come and go', { skip }, async (t) => {
  const namespaces = driver as NamespacesDriver
  t.teardown(() => namespaces.close())
  const hardwareAddress = async (): Promise<string | undefined> => {
    const [program = '', ...words] = [...namespaces.enterNetwork(), 'ip', '-o', 'link', 'show', 'pods0']
    const { stdout } = await promisify(execFile)(program, words)
    return /link\/ether (\S+)/.exec(stdout)?.[1]
  }
  const create = (number: number) => namespaces.createSandbox({ hostname: 'pod', address: `10.244.0.${number}`, hostNetwork: false })
  const before = await hardwareAddress()
  const pods = await Promise.all([2, 3, 4].map(create))
  t.equal(await hardwareAddress(), before)
  for (const pod of pods) {
    await pod.remove()
    t.equal(await hardwareAddress(), before)
  }
})
