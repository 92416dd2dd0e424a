/**
 * `proreus dev --pods=process` is killed at random moments: nothing is left, and the next start runs the same Pods again.
 * `npm run drill -- pods --only kill` does the same for longer.
 */
import t from 'tap'
import { testPart } from '../support/pods/test-part.ts'

await testPart(t, 'nothing is left of a killed cluster, and the next start runs its Pods again', {
  part: 'kill',
  user: 'machine',
  amount: 5,
})
