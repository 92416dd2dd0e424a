/** The test of pods-kill.test.ts, run by an unprivileged user with subordinate ids. */
import t from 'tap'
import { testPart } from '../support/pods/test-part.ts'

await testPart(t, 'nothing is left of a killed cluster of an unprivileged user', { part: 'kill', user: 'subordinate', amount: 2 })
