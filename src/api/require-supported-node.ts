/**
 * Throws an error when this version of Node.js is not supported. The entry points of the package import this module first. If another
 * module were imported first, a dependency could fail with an error that does not name the cause.
 */
import { ProreusError } from './errors.ts'
import { nodeProblem } from './supported-node.ts'

const problem = nodeProblem()
if (problem !== undefined) throw new ProreusError('PRO_CONFIG_INVALID', problem)
