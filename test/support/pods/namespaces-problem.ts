/** `namespacesProblem`: the reason why Pods cannot have namespaces on this machine. */
import { messageOf } from '../../../src/api/errors.ts'
import { createNamespacesDriver } from '../../../src/devcluster/pods/namespaces/namespaces-driver.ts'

/**
 * Resolves with the reason why Pods cannot run in Linux namespaces on this machine. Resolves with false if Pods can run in Linux
 * namespaces. A test can use the result as its option `skip`.
 */
export async function namespacesProblem(): Promise<string | false> {
  try {
    await (await createNamespacesDriver()).close()
    return false
  } catch (error) {
    return `this machine permits no namespaces: ${messageOf(error)}`
  }
}
