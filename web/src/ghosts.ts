/** Translucent copies: other recordings in this world, and other postures of an arm. */

import { Color, Group, Mesh, MeshStandardMaterial, type Object3D } from "three";
import { Rig } from "./motions";
import type { ArmInfo, Lookup, NodeInfo } from "./protocol";
import { freeTree, objectsIn, readScene } from "./scene_file";

function translucent(colour: string, opacity: number): MeshStandardMaterial {
  const material = new MeshStandardMaterial({
    color: colour,
    transparent: true,
    opacity,
    roughness: 0.6,
    emissive: new Color(colour),
    emissiveIntensity: 0.25,
  });
  // Nearer parts hide farther ones of the same ghost: it reads as one body, not as a heap of films.
  material.depthWrite = true;
  return material;
}

/** Gives all that is drawn below an object one look; the geometry stays that of the original. */
function paint(tree: Object3D, material: MeshStandardMaterial): void {
  tree.traverse((object) => {
    if (!(object instanceof Mesh)) return;
    object.material = material;
    object.castShadow = object.receiveShadow = false;
    object.renderOrder = 8;
  });
}

/** Another run in the same world: what moves in it, without its ground. */
export class Ghost extends Group {
  private constructor(
    private readonly rig: Rig,
    readonly colour: string,
    private readonly tree: Object3D,
  ) {
    super();
    this.add(tree);
  }

  static async read(glb: ArrayBuffer, colour: string): Promise<Ghost> {
    const { root, objects, description } = await readScene(glb);
    const moving = new Set(description.nodes.filter((node) => node.motion).map((node) => node.name));
    const still: Object3D[] = [];
    const keepMoving = (object: Object3D, moves: boolean): void => {
      const now = moves || moving.has((object.userData["node"] as string | undefined) ?? "");
      if (!now && object instanceof Mesh) still.push(object);
      for (const child of object.children) keepMoving(child, now);
    };
    keepMoving(root, false);
    for (const object of still) {
      freeTree(object);
      objects.delete(object.userData["node"] as string);
    }
    paint(root, translucent(colour, 0.42));
    return new Ghost(new Rig(objects, description.nodes), colour, root);
  }

  show(lookup: Lookup): void {
    this.rig.apply(lookup);
  }

  free(): void {
    freeTree(this.tree);
    this.removeFromParent();
  }
}

/** Ghosts of an arm in other postures that bring its tool to the same pose. */
export class Postures {
  visible = false;
  private readonly copies: { tree: Object3D; rig: Rig; joints: number[] }[] = [];
  private readonly materials: MeshStandardMaterial[] = [];
  private current: Lookup = () => null;

  constructor(
    private readonly arm: ArmInfo,
    private readonly objects: ReadonlyMap<string, Object3D>,
    private readonly nodes: NodeInfo[],
  ) {}

  set(joints: number[][]): void {
    this.clear();
    const base = this.objects.get(this.arm.nodes[0] ?? "");
    if (!base?.parent) return;
    joints.forEach((posture, k) => {
      const colour = `#${new Color().setHSL((0.55 + 0.17 * k) % 1, 0.6, 0.6).getHexString()}`;
      const material = translucent(colour, 0.3);
      const tree = base.clone(true);
      paint(tree, material);
      base.parent!.add(tree);
      this.materials.push(material);
      this.copies.push({ tree, rig: new Rig(objectsIn(tree), this.nodes), joints: posture });
    });
    this.update(this.current);
  }

  /** Everything but the joints (what the arm holds, its gripper) is as in the run. */
  update(lookup: Lookup): void {
    this.current = lookup;
    for (const { tree, rig, joints } of this.copies) {
      tree.visible = this.visible;
      if (this.visible) rig.apply((channel) => (channel === this.arm.joints ? joints : lookup(channel)));
    }
  }

  clear(): void {
    // The geometry is the arm's own: only the looks are freed.
    for (const { tree } of this.copies) tree.removeFromParent();
    for (const material of this.materials) material.dispose();
    this.copies.length = this.materials.length = 0;
  }
}
